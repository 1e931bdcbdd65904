"""Papers of a release, forged as Tacit would write them: only what they say can give them away."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tacit.release import text_of


def write_paper(path: Path, paper: Any) -> None:
    """Write a certificate, levels or a channel with the spaces and breaks that Tacit writes."""
    path.write_text(text_of(paper, indent=2 if path.name == "certificate.json" else None), "utf-8")
