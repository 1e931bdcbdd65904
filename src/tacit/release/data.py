"""The released data: a file, or a folder of parts, and whether it is what was certified."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from tacit.errors import SourceError
from tacit.loading import file_sha256
from tacit.release.certificate import Certificate, CertifiedOutput, CertifiedPart, fingerprint_of_parts
from tacit.release.keys import files_sha256
from tacit.tables.parted import rows_of_part

# The folder of a table's parts.
PARTS = "data"


def data_written(directory: Path, data_file: str, records: int) -> CertifiedOutput:
    """What a certificate says about the data of a table, read from what was written."""
    place = directory / data_file
    if not place.is_dir():
        return CertifiedOutput(data_file, records, file_sha256(place))
    parts = tuple(CertifiedPart(part.name, file_sha256(part), rows_of_part(part)) for part in sorted(place.iterdir()))
    return CertifiedOutput(data_file, records, fingerprint_of_parts(parts), parts)


def why_not_certified(directory: Path, certificate: Certificate) -> str | None:
    """Why the data of a release is not what was certified; None if it is, byte for byte."""
    output = certificate.output
    place = directory / output.file
    if not place.exists():
        return f"there is no {output.file}"
    if output.parts:
        return next(_faults_of_parts(place, output), None)
    if certificate.of_images:
        digest = files_sha256(directory, output.file)
    elif not place.is_file():
        return f"{output.file} is not a file"
    else:
        digest = file_sha256(place)
    return None if digest == output.sha256 else f"SHA-256 is {digest[:12]}…, the certificate says {output.sha256[:12]}…"


def require_certified(directory: Path, certificate: Certificate) -> Path:
    """The file or folder of the data; a SourceError if it is not what was certified."""
    why = why_not_certified(directory, certificate)
    place = directory / certificate.output.file
    if why is not None:
        raise SourceError(f"{place} is not there, or is not what was certified ({why}): make the release anew")
    return place


def _faults_of_parts(place: Path, output: CertifiedOutput) -> Iterator[str]:
    """What is wrong with each part of a folder, and what else is in it."""
    if not place.is_dir():
        yield f"{output.file} is not a folder"
        return
    for part in output.parts:
        path = place / part.name
        if not path.is_file() or path.is_symlink():
            yield f"there is no {output.file}/{part.name}"
        elif file_sha256(path) != part.sha256:
            yield f"{output.file}/{part.name} has another SHA-256 than the certificate says"
        elif (rows := rows_of_part(path)) != part.records:
            yield f"{output.file}/{part.name} has {rows:,} rows, the certificate says {part.records:,}"
    names = {part.name for part in output.parts}
    for path in sorted(place.iterdir()):
        if path.name not in names:
            yield f"{output.file}/{path.name} is not one of the parts that were certified"
