"""Builds the documentation site into site/: docs/ and the pages that lie outside it, without a warning or not at all.

Links in the repository lead from file to file, so that they work where it is read; the pages from outside docs/ get
a place on the site, and links to them follow. A link to a file that is no page of the site becomes plain text.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

ROOT = Path(__file__).resolve().parent.parent
DOCS = ROOT / "docs"
FROM_OUTSIDE = {
    "CHANGELOG.md": "changelog.md",
    "CONTRIBUTING.md": "contributing.md",
    "SECURITY.md": "security.md",
    "benchmarks/README.md": "benchmarks.md",
}
LINK = re.compile(r"(!?)\[([^\]]*)\]\(([^)\s]+)\)")


def places() -> dict[Path, str]:
    """Every file that the site shows, and where."""
    inside = {path: str(path.relative_to(DOCS)) for path in DOCS.rglob("*") if path.suffix in {".md", ".png", ".svg"}}
    return inside | {ROOT / outside: place for outside, place in FROM_OUTSIDE.items()}


def relinked(text: str, page: Path, at: dict[Path, str]) -> str:
    """The text with links that lead to the same files from the page's place on the site."""

    def link(match: re.Match[str]) -> str:
        picture, words, target = match.groups()
        path, sharp, anchor = target.partition("#")
        if "://" in target or not path:
            return match.group()
        to = at.get((page.parent / path).resolve())
        if to is None:
            return words
        return f"{picture}[{words}]({os.path.relpath(to, Path(at[page]).parent)}{sharp}{anchor})"

    return LINK.sub(link, text)


def staged(folder: Path) -> None:
    at = places()
    for file, place in at.items():
        target = folder / place
        target.parent.mkdir(parents=True, exist_ok=True)
        if file.suffix == ".md":
            target.write_text(relinked(file.read_text("utf-8"), file, at), "utf-8")
        else:
            shutil.copyfile(file, target)


def main() -> int:
    with TemporaryDirectory() as temporary:
        folder = Path(temporary)
        staged(folder / "docs")
        shutil.copyfile(ROOT / "mkdocs.yml", folder / "mkdocs.yml")
        built = subprocess.run([sys.executable, "-m", "zensical", "build", "--strict"], cwd=folder, check=False)
        if built.returncode == 0:
            shutil.rmtree(ROOT / "site", ignore_errors=True)
            shutil.copytree(folder / "site", ROOT / "site")
        return built.returncode


if __name__ == "__main__":
    sys.exit(main())
