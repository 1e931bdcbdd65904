"""Run the fuzzer: the corpus first, then new cases until the time is over. Exit code 1 if anything was found."""

from __future__ import annotations

import argparse
import hashlib
import os
import shutil
import sys
import tempfile
import time
from pathlib import Path

# Before any library that would make a thread for each core.
os.environ |= {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}

from fuzzing.judging import Case
from fuzzing.running import Tally, fuzz, in_a_child, listed, loaded, numbered
from fuzzing.seeds import make_seeds
from fuzzing.targets import READERS

CORPUS = Path(__file__).with_name("corpus")


def main() -> int:
    """Words, seeds, corpus, cases, and what was found."""
    parser = argparse.ArgumentParser(prog="fuzzing", description=__doc__)
    parser.add_argument("--seconds", type=float, default=60.0, help="how long new cases are tried")
    parser.add_argument("--seed", type=int, default=0, help="which cases")
    parser.add_argument("--first", type=int, default=0, help="the number of the first case")
    parser.add_argument("--cases", type=int, default=10**9, help="at most so many new cases")
    parser.add_argument("--readers", action="store_true", help="call readers alone: many more cases, no commands")
    parser.add_argument("--save", type=Path, help="a folder for what is found, in the form of the corpus")
    asked = parser.parse_args()
    place = Path(tempfile.mkdtemp(prefix="tacit-fuzz-seeds-"))
    try:
        return _fuzzed(asked, place / "seeds")
    finally:
        shutil.rmtree(place, ignore_errors=True)


def _fuzzed(asked: argparse.Namespace, seeds: Path) -> int:
    begun, used = time.monotonic(), os.times()
    loaded()
    if in_a_child(lambda: make_seeds(seeds)):
        return 2
    # What loads models loads most of scikit-learn, and runs no thread.
    READERS["model"](seeds / "model" / "m.tacit")
    READERS["words"](seeds / "words" / "m.tacit")
    known, new = Tally(), Tally()
    corpus = [Case.restored(path.read_text("utf-8")) for path in sorted(CORPUS.glob("*.json"))]
    fuzz(listed(corpus), seeds, known, until=begun + 3600)
    last = asked.first + asked.cases

    def cases(number: int) -> Case | None:
        return numbered(seeds, asked.seed, readers=asked.readers)(number) if number < last else None

    after = fuzz(cases, seeds, new, until=time.monotonic() + asked.seconds, first=asked.first)
    now = os.times()
    spent = sum(now[:4]) - sum(used[:4])
    sys.stdout.write(
        f"seed {asked.seed}, cases {asked.first} to {after - 1}: {new.cases:,} new and {known.cases} of the corpus in "
        f"{time.monotonic() - begun:.0f} s, {spent:.0f} s of the processor\n"
    )
    for title, counted in (("kinds", new.kinds), ("outcomes", new.outcomes)):
        sys.stdout.write(f"{title}: {', '.join(f'{name} {count:,}' for name, count in sorted(counted.items()))}\n")
    found = {**known.findings, **new.findings}
    for wrong, those in sorted(found.items(), key=lambda each: -len(each[1])):
        words = " ".join(map(ascii, those[0].words))[:160]
        sys.stdout.write(f"FOUND {len(those):4} x {wrong}\n        {those[0].name}: {words}\n")
        if asked.save is not None:
            asked.save.mkdir(parents=True, exist_ok=True)
            smallest = min(those, key=lambda each: (len(each.data), len(str(each.words))))
            (asked.save / f"{hashlib.sha256(wrong.encode()).hexdigest()[:12]}.json").write_text(smallest.stored(wrong))
    return int(bool(found))


if __name__ == "__main__":
    sys.exit(main())
