"""Some tests with the lowest declared and with the newest versions, on every Python of this machine: ``make matrix``.

One Python alone: ``python3 tests/matrix.py 3.13``. For each of them a virtual environment is made in
``.venv-matrix``; packages come from wherever pip gets them.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).parent.parent
PLACE = ROOT / ".venv-matrix"
PYTHONS = ("3.11", "3.12", "3.13", "3.14")
# What every command needs of its libraries, in a minute or two.
SMOKE = (
    *("tests/cli/test_cli.py", "tests/tables/test_sources.py", "tests/tables/test_engines.py"),
    *("tests/tables/test_writing.py", "tests/red_team/test_red_team_lies.py"),
)


def main() -> int:
    """Every Python with every choice of versions; 1 if one of them fails."""
    failed = []
    for version in sys.argv[1:] or PYTHONS:
        python = _python(version)
        if python is None:
            sys.stdout.write(f"== Python {version}: not on this machine\n")
            continue
        for choice in ("lowest", "newest"):
            sys.stdout.write(f"== Python {version}, {choice} versions\n")
            sys.stdout.flush()
            if not _tried(python, PLACE / f"{version}-{choice}", lowest=choice == "lowest"):
                failed.append(f"Python {version}, {choice}")
    sys.stdout.write("all of them work\n" if not failed else f"failed: {'; '.join(failed)}\n")
    return int(bool(failed))


def _python(version: str) -> str | None:
    """A Python of this version that runs: on the path, or one that pyenv keeps and does not show."""
    kept = sorted((Path.home() / ".pyenv" / "versions").glob(f"{version}.*/bin/python{version}"), reverse=True)
    for found in (shutil.which(f"python{version}"), *kept):
        if found and not subprocess.run([found, "--version"], capture_output=True, check=False).returncode:
            return str(found)
    return None


def _tried(python: str, place: Path, *, lowest: bool) -> bool:
    """Whether the packages can be installed together, and the tests pass with them."""
    subprocess.run([python, "-m", "venv", "--clear", str(place)], check=True)
    declared = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    wanted = [*declared["dependencies"], *declared["optional-dependencies"]["frames"]]
    wanted += declared["optional-dependencies"]["images"]
    if lowest:
        wanted = [each.replace(">=", "==") for each in wanted]
    tools = ["pytest", "pytest-xdist", "hypothesis"]
    own = str(place / "bin" / "python")
    pip = [own, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    # A version that would have to be compiled here is no version to declare.
    done = subprocess.run([*pip, "--only-binary", ":all:", *wanted, *tools], check=False).returncode
    done = done or subprocess.run([*pip, "--no-deps", "-e", str(ROOT)], check=False).returncode
    # Old versions warn of what is to come, which is not what is asked here.
    asked = [own, "-m", "pytest", "-q", "-n", "0", "-x", "-m", "not spark", "-o", "filterwarnings=default", *SMOKE]
    return not (done or subprocess.run(asked, cwd=ROOT, check=False).returncode)


if __name__ == "__main__":
    sys.exit(main())
