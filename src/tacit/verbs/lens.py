"""Which lens a source is looked at through."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Literal

from tacit.loading import checked_path
from tacit.requests import Question, Request
from tacit.requests.asking import refuse_others

Lens = Literal["table", "images", "text"]


def lens_of(question: Question, requests: Sequence[Request]) -> Lens:
    """The lens of a question; settings that mean nothing to it are refused by name."""
    source = question.source
    # Whoever gives labels means images; if there are none, the lens says so.
    if _holds_images(source) or question.labels is not None:
        lens: Lens = "images"
        what = f"images, and {source} holds images" if isinstance(source, (str, Path)) else "images"
    elif question.text is not None:
        lens, what = "text", "posts"
    else:
        lens, what = "table", "tables"
    refuse_others([question, *requests], lens, what)
    return lens


def _holds_images(source: object) -> bool:
    if isinstance(source, (str, Path)):
        return str(source).lower().endswith(".npz") or checked_path(source).is_dir()
    return hasattr(source, "pixels")
