"""What a worker does: read one request, ask the verb, and write the answer to the folder of the job."""

from __future__ import annotations

import os
import select
import shutil
import sys
import time
from importlib import import_module
from pathlib import Path

from tacit.errors import Wording
from tacit.loading import fenced
from tacit.report.json import plain
from tacit.report.page import to_html
from tacit.report.result import Result
from tacit.web.asking import verbs
from tacit.web.jobs.kept import PAGE, PROGRESS, REQUEST, RESULT, SAID, KeptJob
from tacit.web.uploads import unpacked

# Fewest seconds between two writes of progress, unless a new stage begins.
OFTEN = 0.2
# What a worker loads while it waits.
NEEDED = (
    *("duckdb", "pyarrow.dataset", "narwhals", "scipy.optimize", "scipy.stats"),
    *("tacit.lenses.table.audit", "tacit.lenses.table.protect", "tacit.lenses.text.audit"),
    *("tacit.verbs.audit", "tacit.verbs.protect"),
)


class ProgressNotes:
    """Progress as a file: the stage, how far it is, and since when."""

    def __init__(self, job: KeptJob) -> None:
        self.job = job
        self.stage, self.since, self.written = "", 0.0, 0.0

    def __call__(self, stage: str, share: float | None) -> None:
        """Note how far the verb has got."""
        now = time.time()
        if stage == self.stage and now - self.written < OFTEN:
            return
        if stage != self.stage:
            self.stage, self.since = stage, now
        self.written = now
        self.job.write(PROGRESS, {"stage": stage, "share": share, "since": self.since, "at": now})


def waited() -> Path | None:
    """The folder of the job that this worker is given on standard input; None if the server has gone.

    Until then it loads what most answers need, which takes longer than most answers.
    """
    for name in NEEDED:
        # Once there is a job, it loads what it needs itself.
        if select.select([sys.stdin], [], [], 0)[0]:
            break
        import_module(name)
    verbs()
    line = sys.stdin.readline().rstrip("\n")
    if not line:
        return None
    place = Path(line)
    os.dup2(os.open(place / SAID, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), sys.stderr.fileno())
    return place


def work(place: Path, wording: Wording) -> int:
    """Answer the request of a job, in the folder that is served; 0 when the answer is written.

    Guarantees
    ----------
    Paths that the request, or a case that it names, leads to are within the folder. The answer is there only if it is
    whole: the page first, then the result.
    """
    job = KeptJob(place)
    job_request = job.read(REQUEST)
    verb = verbs()[job_request["verb"]]
    with job.held(), fenced(Path.cwd()):
        progress = ProgressNotes(job)
        progress("starting", None)
        request = verb.read(job_request["request"])
        about = request[verb.subject]
        unpacking = place / "unpacked"
        if verb.subject == "release" and about.suffix.lower() == ".zip":
            request[verb.subject] = unpacked(about, unpacking)
        try:
            result = verb.answered(request, progress)
        finally:
            shutil.rmtree(unpacking, ignore_errors=True)
        progress("writing the answer", None)
        if isinstance(result, Result):
            job.write_text(PAGE, to_html(result, wording=wording))
        job.write(RESULT, plain(result.to_dict() if isinstance(result, Result) else result))
    return 0
