"""``verify``: is the claim of a release true? Recomputed from the released data and the original."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tacit.document import Progress, silent
from tacit.errors import ArgumentError
from tacit.requests import VerifyRequest
from tacit.requests.settings import AnyPath
from tacit.tables import Table, memory_limit
from tacit.tables.formats.frames import frame_name
from tacit.verbs.opening import opened

if TYPE_CHECKING:
    from tacit.lenses.verification import VerifyResult


def verify(
    release: AnyPath | VerifyRequest,
    *,
    against: Any = None,
    labels: AnyPath | None = None,
    engine: str = "duckdb",
    memory: str | None = None,
    encoding: str | None = None,
    remote: bool = False,
    progress: Progress = silent,
) -> VerifyResult:
    """Check the claim of a release.

    Parameters
    ----------
    release : path
        The directory that ``protect`` wrote.
    against : path or frame, optional
        The original. Without it only the fingerprint and the certificate's own consistency can be checked, and the
        verdict is "not checked".
    labels : path, optional
        For a release of images: the labels of the originals, which are part of their fingerprint.
    engine, memory, encoding, remote
        As in ``audit``.

    Guarantees
    ----------
    The verdict is "holds" only if every line was checked: the data is the data that was certified, the original is
    the original, the words are those that the numbers call for, every row is what the rules make of the original (what
    was drawn is drawn again, with the key that the certificate commits to), and the bound recomputed on the joint of
    secret and output is what was claimed. Without ``private/`` a drawn release is "not checked". ``whole_file`` says
    whether that is a claim about the whole file, too: how many people share each released value is counted.
    """
    request = release
    if not isinstance(request, VerifyRequest):
        request = VerifyRequest(
            release,
            against=against,
            labels=labels,
            engine=engine,
            memory=memory,
            encoding=encoding,
            remote=remote,
        )
    with memory_limit(request.memory):
        request = replace(request, against=opened(request.against, request, pinned=True))
        return _verified(request, progress)


def _verified(request: VerifyRequest, progress: Progress) -> VerifyResult:
    """The kind of the certificate decides which lens checks it."""
    from tacit.lenses.verification import VerifyResult
    from tacit.release.certificate import CodedCertificate, ImageCertificate, TextCertificate, read_certificate

    folder, against = Path(request.release), request.against
    labels = None if request.labels is None else Path(request.labels)
    certificate = read_certificate(folder)
    if isinstance(certificate, CodedCertificate) and certificate.of_images:
        from tacit.lenses.images.coding import verify_coded_images

        checked = verify_coded_images(folder, certificate, against=against, labels=labels, progress=progress)
    elif isinstance(certificate, CodedCertificate) and certificate.medium == "vectors":
        from tacit.lenses.vectors.coding import verify_coded_vectors

        checked = verify_coded_vectors(folder, certificate, against=against, labels=labels, progress=progress)
    elif isinstance(certificate, ImageCertificate):
        from tacit.lenses.images.verify import verify_images

        checked = verify_images(folder, certificate, against=against, labels=labels, progress=progress)
    elif request.labels is not None:
        raise ArgumentError(f"labels are for a release of images, and {folder} is none: leave them out")
    elif isinstance(certificate, TextCertificate):
        from tacit.lenses.text.verify import verify_text

        checked = verify_text(folder, certificate, against=against, engine=request.engine, progress=progress)
    elif isinstance(certificate, CodedCertificate):
        from tacit.lenses.text.coding import verify_coded_posts

        checked = verify_coded_posts(folder, certificate, against=against, engine=request.engine, progress=progress)
    else:
        from tacit.lenses.table.verify import verify_table

        checked = verify_table(folder, certificate, against=against, engine=request.engine, progress=progress)
    return VerifyResult(str(request.release), None if against is None else _name(against), **vars(checked))


def _name(against: Any) -> str:
    """What the original is called; no value of a frame is shown."""
    if isinstance(against, str):
        return against
    return str(against.name) if isinstance(against, Path | Table) else frame_name(against)
