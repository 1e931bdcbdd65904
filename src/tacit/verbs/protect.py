"""``protect``: write a version of a source that keeps the secret, with a certificate of what remains."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack, overload

from tacit.document import Progress, silent
from tacit.requests import Request, asked
from tacit.requests.settings import AnyPath
from tacit.requests.verbs import PROTECT
from tacit.tables import memory_limit
from tacit.verbs.keywords import ProtectImages, ProtectTable, ProtectText
from tacit.verbs.lens import lens_of

if TYPE_CHECKING:
    from tacit.lenses.images.answers.release import ImageProtectResult
    from tacit.lenses.images.images import Images
    from tacit.lenses.table.answers.release import ProtectResult
    from tacit.lenses.text.answers.release import TextProtectResult


@overload
def protect(
    source: Images, *requests: Request, out: AnyPath, progress: Progress = ..., **settings: Unpack[ProtectImages]
) -> ImageProtectResult: ...
@overload
def protect(
    source: AnyPath,
    *requests: Request,
    out: AnyPath,
    labels: AnyPath,
    progress: Progress = ...,
    **settings: Unpack[ProtectImages],
) -> ImageProtectResult: ...
@overload
def protect(
    source: Any, *requests: Request, out: AnyPath, text: str, progress: Progress = ..., **settings: Unpack[ProtectText]
) -> TextProtectResult: ...
@overload
def protect(
    source: Any, *requests: Request, out: AnyPath, progress: Progress = ..., **settings: Unpack[ProtectTable]
) -> ProtectResult: ...
def protect(source: Any, *requests: Request, out: AnyPath, progress: Progress = silent, **settings: Any) -> Any:
    """Write a release of ``source`` to the directory ``out``.

    ``protect("people.csv", secret="race", epsilon=0.5, out="release")`` and
    ``protect(Question("people.csv", secret="race"), Bound(epsilon=0.5), out="release")`` are the same.

    Parameters
    ----------
    source : path, frame, Table or Question
        As in ``audit``.
    *requests : Bound, Making, Learning, Ledgered, PatchNoise, WordMask
        Requests that were made already; settings change them.
    out : path
        The directory of the release.
    **settings
        The fields of these requests and of ``Question``; each class says what they mean.

    Returns
    -------
    ProtectResult, ImageProtectResult or TextProtectResult
        By what was released.

    Raises
    ------
    NotCertifiedError
        If the rules of an earlier batch do not keep this one within epsilon, the records are too few for the confidence
        asked, or all releases of the ledger together would pass the budget. Nothing is written then.

    Guarantees
    ----------
    The directory appears whole or not at all. The certificate's attained epsilon is computed on the joint of
    secret and output, and the release is written only if it is within what was claimed. Rows whose value is neither
    merged nor mixed are unchanged and in their place, and every released value is one of the table's. What a
    single image or post still gives away is not certified.
    """
    question, bound, making, learning, ledgered, noise, mask = asked(
        PROTECT, source, requests, settings, verb="protect"
    )
    lens = lens_of(question, (bound, making, learning, ledgered, noise, mask))
    if lens == "table":
        from tacit.lenses.table.protect import protect_table

        with memory_limit(question.memory):
            return protect_table(question, bound, making, learning, ledgered, out=Path(out), progress=progress)
    if lens == "images":
        from tacit.lenses.images.protect import protect_images

        return protect_images(question, bound, making, noise, out=Path(out), progress=progress)
    from tacit.lenses.text.protect import protect_text

    with memory_limit(question.memory):
        return protect_text(question, bound, making, mask, out=Path(out), progress=progress)
