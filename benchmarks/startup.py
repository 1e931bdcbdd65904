"""How long ``import tacit`` and ``tacit --help`` take, as ratios to a bare ``import numpy``, best of many, interleaved.

Run: .venv/bin/python benchmarks/startup.py
"""

from __future__ import annotations

import subprocess
import sys
import time

RUNS = 15
COMMANDS = {
    "python -c 'import numpy'": [sys.executable, "-c", "import numpy"],
    "python -c 'import tacit'": [sys.executable, "-c", "import tacit"],
    "tacit --help": [sys.executable, "-m", "tacit", "--help"],
}


def main() -> None:
    best = dict.fromkeys(COMMANDS, float("inf"))
    for _ in range(RUNS):
        for name, command in COMMANDS.items():
            start = time.perf_counter()
            subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
            best[name] = min(best[name], time.perf_counter() - start)
    baseline = best["python -c 'import numpy'"]
    for name, seconds in best.items():
        bar = "   (bar: 2.5)" if name == "tacit --help" else ""
        print(f"{name:28} {seconds * 1000:7.0f} ms   {seconds / baseline:5.2f} times numpy{bar}")


if __name__ == "__main__":
    main()
