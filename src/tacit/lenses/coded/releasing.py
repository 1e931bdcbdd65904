"""A release in codes, written: the steps that images, posts and vectors share."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from tacit.document import Progress
from tacit.learn.arrays import Codes
from tacit.lenses.coded.answers import CodedProtectResult, ShownCode
from tacit.lenses.coded.certifying import CodedAbout, coded_certificate, headline
from tacit.lenses.coded.coding import CodedRecords
from tacit.lenses.coded.planning import CodedBound
from tacit.lenses.coded.saving import README, keep_code
from tacit.release.certificate import CertifiedInput, CertifiedOutput
from tacit.release.directory import ReleaseDraft, new_release
from tacit.release.keys import committed
from tacit.requests import Making

# Writes the released codes, in their order, to a draft; gives what went in and what came out.
Write = Callable[[ReleaseDraft, Codes], tuple[CertifiedInput, CertifiedOutput]]


def release_in_codes(
    records: CodedRecords,
    about: CodedAbout,
    limits: CodedBound,
    making: Making,
    *,
    out: Path,
    key: bytes,
    write: Write,
    show: Callable[[int, int], ShownCode],
    progress: Progress,
    worth: Mapping[str, Any] | None = None,
    notes: Sequence[str] = (),
    kept: Mapping[str, Any] | None = None,
) -> CodedProtectResult:
    """Write records in codes to the directory ``out``, with their certificate, their page and the owner's papers.

    ``show`` makes what is listed of a code from its number and the number of its people. ``worth`` are fields of the
    certificate that a lens measured; ``kept`` is what a lens keeps of its own to make the codes again.
    """
    with new_release(out, overwrite=making.overwrite) as draft:
        progress("writing the release", None)
        source, output = write(draft, records.released[records.order])
        certificate = coded_certificate(
            records,
            about,
            limits,
            input=source,
            output=replace(output, key_sha256=committed(key, draft.salt)),
            repeatable=making.random_state is not None,
        )
        certificate = replace(certificate, **worth or {})
        people = np.bincount(records.released)
        listed = tuple(show(at, int(people[at])) for at in np.argsort(-people, kind="stable").tolist() if people[at])
        copies = int((~records.parts.different).sum())
        if copies:
            notes = (
                *notes,
                f"{copies:,} {about.medium} are copies of others: they make no code; all is proved with and without "
                "them",
            )
        result = CodedProtectResult(str(out), certificate, headline(certificate), listed, tuple(notes))
        keep_code(draft, records, key, kept or {})
        result.write_report(draft.report)
        certificate = draft.sealed(certificate, README)
    return replace(result, certificate=certificate)
