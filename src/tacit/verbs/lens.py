"""Which lens a source is looked at through."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Literal

from tacit.errors import ArgumentError, Setting, sentence
from tacit.loading import checked_path
from tacit.requests import Question, Request
from tacit.requests.asking import given, refuse_others
from tacit.requests.names import MEDIA

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


def media_mechanism(lens: Lens, mechanism: str | None, others: Sequence[Request]) -> str | None:
    """What is done to images or posts: a code, unless another is named or a setting of another is said."""
    estimate = {"images": "noise", "text": "mask"}.get(lens)
    wanted = None if mechanism == "auto" else mechanism
    if estimate is None:
        if wanted in MEDIA:
            raise ArgumentError(sentence("{setting} is not for tables: leave it out", setting=_said(mechanism)))
        return None
    if wanted not in (None, "code", estimate):
        words = "{setting} is not for {lens}: it is code or {estimate}"
        raise ArgumentError(sentence(words, setting=_said(mechanism), lens=lens, estimate=estimate))
    said = given(others)
    if wanted == "code" and said:
        name, value = next(iter(said.items()))
        words = "{setting} belongs to {estimate}: leave it out, or say {other}"
        settings = {"setting": Setting(name, value), "other": _said(estimate)}
        raise ArgumentError(sentence(words, estimate=estimate, **settings))
    return wanted or (estimate if said else "code")


def _said(mechanism: str | None) -> Setting:
    return Setting("mechanism", mechanism)


def _holds_images(source: object) -> bool:
    if isinstance(source, (str, Path)):
        return str(source).lower().endswith(".npz") or checked_path(source).is_dir()
    return hasattr(source, "pixels")
