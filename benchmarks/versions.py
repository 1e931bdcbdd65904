"""Is the house slower than what it replaced? The jobs of 0.1's benchmarks with its code and with today's, in one run.

    .venv/bin/python benchmarks/versions.py [--rounds 3]

0.1 is the last commit before the house was built, taken out of this repository's history. Each job runs in a process of
its own (and five times there, if it reads no table), one version after the other, and the best of some rounds counts:
seconds of the processor of the job, without what it takes to import Tacit, except for the first two. ``audit`` says
more today than in 0.1: what is learned, a ladder of releases that were tried, who could be found, what to do.
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
import tarfile
import tempfile
from io import BytesIO
from pathlib import Path

from tables import generate

HERE = Path(__file__).parent.parent
BEFORE = "39344fee^"
ROWS = 1_000_000
START = "from time import process_time\nimport numpy as np, tacit, os\nfrom tacit import *\n"
JOINT = (
    "table = np.random.default_rng(1).random((15, {n}))\n"
    "table *= 1 / np.arange(1, {n} + 1) ** 1.1 / table.sum(axis=0)\njoint = tacit.Joint(table / table.sum())\n"
)
RECORDS = (
    "rng = np.random.default_rng(250)\n"
    "record = tacit.Record([('l', i, float(p)) for i, p in enumerate(rng.random(250))])\n"
    "reference = tacit.Reference([('l', i) for i in range(125)] + [('m', i) for i in range(125)])\n"
)
LEARN = (
    "rng = np.random.default_rng(3)\nx = rng.normal(size=(5_000, 6))\n"
    "s = (x[:, 0] + rng.normal(size=5_000) > 0).astype(int)\n"
)
PROTECT = "tacit.protect(TABLE, secret='origin', epsilon=0.3, out=OUT, mechanism='watchdog', replacement='merge')"
# What is made ready, and what is timed.
JOBS = {
    "import tacit": None,
    "tacit --help": None,
    "partition 15 x 100,000": (JOINT.format(n=100_000), "tacit.partition(joint, 1.0, 0.01, 4.0, method='greedy')"),
    "watchdog 15 x 100,000": (JOINT.format(n=100_000), "tacit.watchdog(joint, 1.0)"),
    "optimal 15 x 300": (JOINT.format(n=300), "tacit.optimal(joint, 0.5)"),
    "measures 15 x 100,000": (
        JOINT.format(n=100_000),
        "[m(joint) for m in (tacit.mutual_information, tacit.maximal_leakage, tacit.local_dp)]",
    ),
    "record_leakage, 250 attributes, 20 times": (
        RECORDS,
        "[tacit.record_leakage(record, reference) for _ in range(20)]",
    ),
    "AutoLogLift, 5,000 records": (LEARN, "tacit.AutoLogLift(random_state=0).fit(x, s)"),
    "audit, 10^6 rows": ("", "tacit.audit(TABLE, secret='origin')"),
    "protect (watchdog), 10^6 rows": ("", PROTECT),
    "verify, 10^6 rows": (PROTECT + "\n", "tacit.verify(OUT, against=TABLE)"),
}


def seconds(job: str, source: Path, table: Path) -> float:
    """Processor seconds of one job with the code of ``source``."""
    env = {**os.environ, "PYTHONPATH": str(source), "OMP_NUM_THREADS": "1"}
    if JOBS[job] is None:
        words = ["-c", "import tacit"] if job == "import tacit" else ["-m", "tacit", "--help"]
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run([sys.executable, *words], check=True, env=env, stdout=subprocess.DEVNULL)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    ready, timed = JOBS[job]
    with tempfile.TemporaryDirectory() as folder:
        code = f"{START}TABLE, OUT = {str(table)!r}, {str(Path(folder) / 'release')!r}\n{ready}"
        code += f"assert tacit.__file__.startswith({str(source)!r})\nbest = float('inf')\n"
        code += f"for _ in range({1 if 'TABLE' in timed else 5}):\n    begin = process_time()\n    {timed}\n"
        code += "    best = min(best, process_time() - begin)\nprint(best)"
        done = subprocess.run([sys.executable, "-c", code], check=True, env=env, capture_output=True, text=True)
    return float(done.stdout.split()[-1])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--only", nargs="*", help="jobs whose name begins so")
    options = parser.parse_args()
    table = HERE / "benchmarks" / "data" / f"versions_{ROWS}.parquet"
    if not table.exists():
        generate(table, ROWS)
    with tempfile.TemporaryDirectory() as folder:
        packed = subprocess.run(["git", "archive", BEFORE, "src"], check=True, capture_output=True, cwd=HERE).stdout
        with tarfile.open(fileobj=BytesIO(packed)) as archive:
            archive.extractall(folder, filter="data")
        versions = {"0.1": Path(folder) / "src", "today": HERE / "src"}
        print(f"{'job':42}    0.1 s   today s   ratio")
        for job in JOBS:
            if options.only and not job.startswith(tuple(options.only)):
                continue
            best = dict.fromkeys(versions, float("inf"))
            for _ in range(options.rounds):
                for name, source in versions.items():
                    best[name] = min(best[name], seconds(job, source, table))
            print(f"{job:42} {best['0.1']:8.3f}  {best['today']:8.3f}  {best['today'] / best['0.1']:6.2f}", flush=True)


if __name__ == "__main__":
    main()
