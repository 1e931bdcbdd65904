"""Which lens a source is looked at through."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Literal

from tacit.errors import ArgumentError, Setting, sentence
from tacit.loading import checked_path
from tacit.requests import Coding, Making, Question, Request
from tacit.requests.asking import given, refuse_others
from tacit.requests.names import MEDIA

Lens = Literal["table", "images", "text", "vectors"]


def lens_of(question: Question, requests: Sequence[Request]) -> Lens:
    """The lens of a question; settings that mean nothing to it are refused by name."""
    source = question.source
    # Whoever gives labels means images; if there are none, the lens says so.
    if question.vector is not None:
        lens: Lens = "vectors"
        what = "vectors"
    elif _holds_images(source) or question.labels is not None:
        lens = "images"
        what = f"images, and {source} holds images" if isinstance(source, (str, Path)) else "images"
    elif question.text is not None:
        lens, what = "text", "posts"
    else:
        lens, what = "table", "tables"
    refuse_others([question, *requests], lens, what)
    return lens


def media_mechanism(lens: Lens, making: Making, coding: Coding, others: Sequence[Request]) -> str | None:
    """What is done to images, posts or vectors: a code, unless another mechanism, or a setting of another, is given."""
    estimate = {"images": "noise", "text": "mask", "vectors": "code"}.get(lens)
    wanted = None if making.mechanism == "auto" else making.mechanism
    if estimate is None:
        if wanted in MEDIA:
            raise ArgumentError(
                sentence("{setting} is not for tables: leave it out", setting=_mechanism_setting(wanted))
            )
        return None
    if wanted not in (None, "code", estimate):
        words = "{setting} is not for {lens}: it is {choices}"
        choices = " or ".join(dict.fromkeys(("code", estimate)))
        raise ArgumentError(sentence(words, setting=_mechanism_setting(wanted), lens=lens, choices=choices))
    of_estimate, of_code = given(others), given([coding])
    if making.keep_secret:
        of_estimate["keep_secret"] = True
    chosen = wanted or ("code" if of_code or not of_estimate else estimate)
    for owner, own_settings in ((estimate, of_estimate), ("code", of_code)):
        if own_settings and owner != chosen:
            setting = Setting(*next(iter(own_settings.items())))
            words = "{setting} belongs to {owner}: leave it out, or say {mechanism}"
            raise ArgumentError(sentence(words, setting=setting, owner=owner, mechanism=_mechanism_setting(owner)))
    return chosen


def _mechanism_setting(mechanism: str | None) -> Setting:
    return Setting("mechanism", mechanism)


def holds_tables(folder: Path) -> bool:
    """Whether a folder is a table of several files: one that holds a picture is a folder of images."""
    from tacit.lenses.images.files import FORMATS as PICTURES
    from tacit.tables.formats import reads
    from tacit.tables.formats.parts import files_within

    files = files_within(folder)
    return not any(file.suffix.lower() in PICTURES for file in files) and any(reads(file) for file in files)


def _holds_images(source: object) -> bool:
    if isinstance(source, (str, Path)):
        if str(source).lower().endswith(".npz"):
            return True
        folder = checked_path(source)
        return folder.is_dir() and not holds_tables(folder)
    return hasattr(source, "pixels")
