"""Papers of a release, forged as Tacit would write them: only what they say can give them away."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from tacit.release import read_certificate, text_of, worded


def write_paper(path: Path, paper: Any) -> None:
    """Write a certificate, levels or a channel with the spaces and breaks that Tacit writes."""
    path.write_text(text_of(paper, indent=2 if path.name == "certificate.json" else None), "utf-8")


def forge(release: Path, **fields: Any) -> None:
    """Put other numbers into a certificate, and the words that Tacit has for them."""
    certificate = replace(read_certificate(release), **fields)
    write_paper(release / "certificate.json", worded(certificate))
