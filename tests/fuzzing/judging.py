"""One case: what is run, and whether what came of it may be."""

from __future__ import annotations

import base64
import io
import json
import os
import re
import shutil
import sys
import traceback
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from random import Random
from types import SimpleNamespace

from fuzzing.mutations import damaged
from fuzzing.options import odd_words
from fuzzing.seeds import MARKER
from fuzzing.targets import READ, READERS, TARGETS, Words

OPTIONS = "options"
# An odd argument costs little, and there are many.
SHARE_OF_OPTIONS = 0.2
CASES, IMAGES = ("case", "linked", "files"), ("npz", "folder")
READABLE = tuple(target for target in TARGETS if target.lines[0][0] == READ)
POSTS = b"word1 word2 #tax\n@left \xff\n\n"
Listing = dict[str, tuple[int, int]]


@dataclass(frozen=True)
class Case:
    """A folder of good inputs, the file in it that is damaged and what it holds instead, and the words typed."""

    box: str
    words: Words
    file: str | None = None
    data: bytes = b""

    @property
    def name(self) -> str:
        """What was damaged."""
        return f"{self.box}/{self.file}" if self.file else f"{OPTIONS}/{' '.join(self.words[:1])}"[:60]

    @property
    def kind(self) -> str:
        """What sort of input it is; of a table, its format too."""
        if self.file is None:
            return OPTIONS
        if self.box in CASES:
            return "case files"
        if self.file.endswith("m.tacit"):
            return "models"
        if self.file.startswith("r/") or self.file == "ledger.json":
            return "papers"
        return "images" if self.box in IMAGES else f"tables ({Path(self.file).suffix[1:]})"

    def stored(self, why: str) -> str:
        """The case as the corpus keeps it."""
        packed = base64.b64encode(zlib.compress(self.data, 9)).decode()
        facts = {"why": why, "box": self.box, "words": self.words, "file": self.file, "data": packed}
        return json.dumps(facts, indent=1) + "\n"

    @classmethod
    def restored(cls, text: str) -> Case:
        """A case of the corpus."""
        facts = json.loads(text)
        data = zlib.decompress(base64.b64decode(facts["data"]))
        return cls(facts["box"], tuple(facts["words"]), facts["file"], data)


def case_of(seeds: Path, seed: int, number: int, *, readers: bool = False) -> Case:
    """The case of a number, the same for the same good inputs; with ``readers``, one that no answer is asked of."""
    rng = Random(f"{seed}/{number}")
    if not readers and rng.random() < SHARE_OF_OPTIONS:
        return Case(OPTIONS, odd_words(rng))
    chosen = READABLE if readers else TARGETS
    # A case takes ten times as long to read as other papers do.
    dear = 0.1 if readers else 1.0
    target = rng.choices(chosen, [each.weight * (dear if each.box in CASES else 1.0) for each in chosen])[0]
    often = [20.0] + [0.0 if readers else 1.0] * (len(target.lines) - 1)
    words = rng.choices(target.lines, often)[0]
    data = damaged((seeds / target.box / target.file).read_bytes(), target.form, rng)
    return Case(target.box, words, target.file, data)


def judged(case: Case, seeds: Path, work: Path) -> tuple[str, str | None]:
    """Run a case in this process; its outcome in a word, and what is wrong with it, if anything is."""
    box = work / case.box
    if not box.exists():
        shutil.copytree(seeds / case.box, box, copy_function=shutil.copyfile)
        if case.box == OPTIONS:
            os.mkfifo(box / "pipe")
    if case.file is not None:
        (box / case.file).write_bytes(case.data)
    before = _listing(box)
    os.chdir(box)
    with _captured(work) as said:
        code, wrong = _read(case) if case.words[0] == READ else _commanded(case, work)
    os.chdir(work)
    message = said()
    after = _listing(box)
    wrong = wrong or wrong_in_message(code, message) or _wrong_in_folder(code, before, after, box)
    if after != before:
        shutil.rmtree(box)
    elif case.file is not None:
        shutil.copyfile(seeds / case.box / case.file, box / case.file)
    return ("read" if case.words[0] == READ else "run") + f" {code}", wrong


def _read(case: Case) -> tuple[int, str | None]:
    from tacit.errors import TacitError

    try:
        READERS[case.words[1]](Path(case.words[2]))
    except TacitError as error:
        sys.stderr.write(str(error))
        return error.exit_code, None
    except MemoryError:
        return 3, f"hungry: MemoryError in {_place()}"
    except Exception as error:  # noqa: BLE001 - that is what is looked for
        return 4, f"raises {type(error).__name__} in {_place()}"
    return 0, None


def _commanded(case: Case, work: Path) -> tuple[int, str | None]:
    from tacit.cli import main

    sys.argv = ["tacit", *case.words]
    stdin, sys.stdin = sys.stdin, SimpleNamespace(buffer=io.BytesIO(POSTS), isatty=lambda: False)  # type: ignore[assignment]
    try:
        main()
    except SystemExit as stop:
        code = int(stop.code or 0)
    except BaseException as error:  # noqa: BLE001 - nothing may come through the outermost handler
        return 5, f"comes through: {type(error).__name__} in {_place()}"
    finally:
        sys.stdin = stdin
    if code == 4:
        details = sorted((work / "tmp").glob("tacit-defect-*.txt"))
        told = details[-1].read_text("utf-8") if details else ""
        for each in details:
            each.unlink()
        return 4, f"a defect: {_kind_in(told)} in {_place_in(told)}"
    return code, None if code in (0, 1, 2, 3) else f"exit code {code}"


def _place() -> str:
    return _place_in(traceback.format_exc())


def _place_in(told: str) -> str:
    """The innermost function of Tacit's in a traceback."""
    frames = re.findall(r'File "[^"]*/src/(tacit/[^"]+)", line (\d+), in (\S+)', told)
    inner = [frame for frame in frames if not frame[0].startswith("tacit/cli/__init__")] or frames
    return f"{inner[-1][0]}:{inner[-1][1]} {inner[-1][2]}" if inner else told[-200:]


def _kind_in(told: str) -> str:
    kinds = re.findall(r"^([\w.]+(?:Error|Exception|Warning|Interrupt)?)(?::|$)", told, re.MULTILINE)
    return kinds[-1] if kinds else "something"


@contextmanager
def _captured(work: Path) -> Iterator[object]:
    """Both streams go to files, whoever writes to them; afterwards the call gives what standard error said."""
    kept = [os.dup(1), os.dup(2)]
    paths = [work / "stdout", work / "stderr"]
    for number, path in enumerate(paths, start=1):
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_TRUNC)
        os.dup2(descriptor, number)
        os.close(descriptor)
    try:
        yield lambda: paths[1].read_text("utf-8", "replace")
    finally:
        for stream, number, old in ((sys.stdout, 1, kept[0]), (sys.stderr, 2, kept[1])):
            stream.flush()
            os.dup2(old, number)
            os.close(old)


def wrong_in_message(code: int, message: str) -> str | None:
    if "Traceback" in message:
        return "prints a traceback"
    if code >= 2 and not message.strip():
        return f"says nothing (exit code {code})"
    if MARKER in message:
        at = message.index(MARKER)
        # A mutation may well make a cell a name; the names of columns and of keys that are not known are told.
        if not re.search(r"column|no key|The table has|labels? ", message[:at]):
            return "tells a record: " + re.sub(r"[^a-z ]+", " ", message)[:60].strip()
    if "out of memory" in message:
        return "hungry: out of memory"
    return None


def _wrong_in_folder(code: int, before: Listing, after: Listing, box: Path) -> str | None:
    new = sorted(after.keys() - before.keys())
    drafts = [name for name in new if ".tacit-" in name]
    if drafts:
        return f"leaves behind {re.sub(r'[0-9a-f]{4,}', '*', drafts[0])}"
    if code >= 2 and [name for name in new if (box / name).is_file()]:
        return f"exit code {code}, and {new[0]} is there"
    if (box / "out").is_dir() and "out" not in before and not (box / "out" / "certificate.json").is_file():
        return "half a release"
    inputs = ("p.csv", "tacit.toml", "m.tacit", "case.yaml", "shop.csv", "people.csv", "r/certificate.json", "pipe")
    changed = [name for name in inputs if name in before and after.get(name) != before[name]]
    return f"{changed[0]} was changed" if changed else None


def _listing(box: Path) -> Listing:
    found = {}
    for folder, folders, files in os.walk(box):
        for name in (*folders, *files):
            facts = os.lstat(os.path.join(folder, name))
            changing = name in folders
            place = os.path.relpath(os.path.join(folder, name), box)
            found[place] = (0, 0) if changing else (facts.st_ino, facts.st_mtime_ns)
    return found
