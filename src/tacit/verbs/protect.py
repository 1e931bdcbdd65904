"""``protect``: write a version of a source that keeps the secret, with a certificate of what remains."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack, overload

from tacit.document import Progress, silent
from tacit.errors import ArgumentError, Setting, sentence
from tacit.requests import Request, asked
from tacit.requests.settings import AnyPath
from tacit.requests.verbs import PROTECT
from tacit.tables import memory_limit
from tacit.tables.formats.frames import framing
from tacit.verbs.keywords import ProtectImages, ProtectTable, ProtectText, ProtectVectors
from tacit.verbs.lens import lens_of, media_mechanism
from tacit.verbs.opening import opened

if TYPE_CHECKING:
    from tacit.lenses.coded.answers import CodedProtectResult
    from tacit.lenses.images.answers.release import ImageProtectResult
    from tacit.lenses.images.images import Images
    from tacit.lenses.table.answers.release import ProtectResult
    from tacit.lenses.text.answers.release import TextProtectResult


@overload
def protect(
    source: Images,
    *requests: Request,
    out: AnyPath | None = ...,
    progress: Progress = ...,
    **settings: Unpack[ProtectImages],
) -> CodedProtectResult | ImageProtectResult: ...
@overload
def protect(
    source: AnyPath,
    *requests: Request,
    out: AnyPath | None = ...,
    labels: AnyPath,
    progress: Progress = ...,
    **settings: Unpack[ProtectImages],
) -> CodedProtectResult | ImageProtectResult: ...
@overload
def protect(
    source: Any,
    *requests: Request,
    out: AnyPath | None = ...,
    text: str,
    progress: Progress = ...,
    **settings: Unpack[ProtectText],
) -> CodedProtectResult | TextProtectResult: ...
@overload
def protect(
    source: Any,
    *requests: Request,
    out: AnyPath | None = ...,
    vector: str,
    progress: Progress = ...,
    **settings: Unpack[ProtectVectors],
) -> CodedProtectResult: ...
@overload
def protect(
    source: Any,
    *requests: Request,
    out: AnyPath | None = ...,
    progress: Progress = ...,
    **settings: Unpack[ProtectTable],
) -> ProtectResult: ...
def protect(
    source: Any, *requests: Request, out: AnyPath | None = None, progress: Progress = silent, **settings: Any
) -> Any:
    """Make a release of ``source``, in the directory ``out``.

    ``protect("people.csv", secret="race", epsilon=0.5, out="release")`` and
    ``protect(Question("people.csv", secret="race"), Bound(epsilon=0.5), out="release")`` are the same.

    Parameters
    ----------
    source : path, frame, Table or Question
        As in ``audit``.
    *requests : Bound, Making, Learning, Ledgered, Coding, PatchNoise, WordMask
        Requests already made; settings change them.
    out : path, optional
        The directory of the release. Without one, the release lives as long as the result: ``frame()`` gives its data,
        ``save(path)`` puts it where you say.
    **settings
        The fields of these requests and of ``Question``; each class says what they mean.

    Returns
    -------
    ProtectResult, CodedProtectResult, ImageProtectResult or TextProtectResult
        Depending on what was released, and how.

    Raises
    ------
    NotCertifiedError
        If the rules of an earlier batch do not keep this one within epsilon, the records are too few for the confidence
        asked, or all releases of the ledger together would exceed the budget. Nothing is written then.

    Guarantees
    ----------
    The directory appears whole or not at all. The certificate's attained epsilon is computed on the joint of
    secret and output, and the release is written only if it is within what was claimed. With watchdog, subsets and
    optimal, rows whose value is neither merged nor mixed are unchanged and in their place, and every released value is
    one of the table's, or missing where it was suppressed. With noise and masks, what a single image or post still
    gives away is not certified.
    """
    question, bound, making, learning, ledgered, coding, noise, mask = asked(
        PROTECT, source, requests, settings, verb="protect"
    )
    question = replace(question, source=opened(question.source, question))
    lens = lens_of(question, (bound, making, learning, ledgered, coding, noise, mask))
    if out is None and ledgered.ledger is not None:
        words = "a ledger records where a release is: say {out}, or leave out {ledger}"
        raise ArgumentError(sentence(words, out=Setting("out", "release"), ledger=Setting("ledger")))
    from tacit.lenses.released import PassingFolder, ReleasedTable

    folder, place = None, Path(out or "release")
    if out is None:
        folder = PassingFolder()
        place = folder.path / place
    coded = media_mechanism(lens, making, coding, (noise, mask)) == "code"
    rest: dict[str, Any] = {"out": place, "progress": progress}
    result: Any
    with memory_limit(question.memory):
        if lens == "table":
            from tacit.lenses.table.protect import protect_table

            result = protect_table(question, bound, making, learning, ledgered, **rest)
        elif lens == "vectors":
            from tacit.lenses.vectors.coding import protect_coded_vectors

            result = protect_coded_vectors(question, bound, making, coding, **rest)
        elif lens == "images" and coded:
            from tacit.lenses.images.coding import protect_coded_images

            result = protect_coded_images(question, bound, making, coding, **rest)
        elif lens == "images":
            from tacit.lenses.images.protect import protect_images

            result = protect_images(question, bound, making, noise, **rest)
        elif coded:
            from tacit.lenses.text.coding import protect_coded_posts

            result = protect_coded_posts(question, bound, making, coding, **rest)
        else:
            from tacit.lenses.text.protect import protect_text

            result = protect_text(question, bound, making, mask, **rest)
    if isinstance(result, ReleasedTable):
        result = replace(result, framed=framing(question.source))
    return replace(result, held=folder)
