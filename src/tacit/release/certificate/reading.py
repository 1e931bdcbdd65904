"""A certificate as it stands in a release: read strictly, as one of the kinds there are."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tacit.errors import SourceError
from tacit.loading import checked_path
from tacit.release.bounds import LARGEST_EPSILON
from tacit.release.certificate.coded import CodedCertificate
from tacit.release.certificate.counted import CountedCertificate
from tacit.release.certificate.media import ImageCertificate, TextCertificate
from tacit.release.certificate.parts import CERTIFICATE, FORMAT
from tacit.release.codec import Damaged, decoded, json_in

AnyCertificate = CountedCertificate | ImageCertificate | TextCertificate | CodedCertificate

_KINDS: Mapping[Any, type[AnyCertificate]] = {
    "counted": CountedCertificate,
    "images": ImageCertificate,
    "text": TextCertificate,
    "coded": CodedCertificate,
}


def certificate_from(data: Any) -> AnyCertificate:
    """A certificate from the JSON that ``protect`` wrote; ``Damaged`` names the field that is not as written."""
    if not isinstance(data, dict) or data.get("kind") not in list(_KINDS):
        raise Damaged("kind", f"is none of {', '.join(_KINDS)}")
    if data.get("format_version") != FORMAT:
        version = data.get("format_version")
        raise Damaged("format_version", f"is {version!r}: this Tacit reads certificates of format {FORMAT}")
    certificate = decoded(_KINDS[data["kind"]], data)
    if certificate.epsilon > LARGEST_EPSILON:
        raise Damaged("epsilon", "is out of range")
    return certificate


def read_certificate(directory: Path) -> AnyCertificate:
    """The certificate of a release; a SourceError if there is none, or it is damaged."""
    paper = checked_path(directory) / CERTIFICATE
    if not directory.is_dir():
        way = "unpack it first" if directory.suffix == ".zip" and directory.is_file() else "protect makes one"
        raise SourceError(f"no release at {directory}: it is not a directory; {way}")
    if not paper.is_file():
        raise SourceError(f"{directory} is not a release: it has no {CERTIFICATE}")
    try:
        return certificate_from(json_in(paper, "certificate"))
    except Damaged as error:
        raise SourceError(f"{paper} is damaged or not a certificate of Tacit ({error})") from error
