"""What the answers of every lens show about a certificate: what its claim rests on, and its fields one by one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields
from typing import Any

from tacit import document as doc
from tacit.release.certificate import Certificate

Sections = Sequence[doc.Section]
Rows = list[tuple[doc.Text, doc.InCell]]


def claim(certificate: Certificate) -> doc.Paragraph:
    """The claim, set apart."""
    return doc.Paragraph(certificate.claim, "claim", label="Claim")


def assumptions(result: Any) -> Sections:
    """What the claim of a release rests on."""
    return (doc.Section("What the claim rests on", (doc.Bullets(result.certificate.assumptions),)),)


def notes(result: Any) -> Sections:
    """The notes on a release, which are only for the terminal."""
    return tuple(doc.notes_section(result.notes, where="terminal"))


def certificate_section(certificate: Certificate, rows: Rows, *parts: str, check: str) -> Sections:
    """The certificate field by field, for the page: ``rows``, the plain fields of its ``parts``, and who made it."""
    shown = [*rows]
    for part in (*parts, "input", "output"):
        shown += _scalars(part, getattr(certificate, part))
    version = f"Tacit {certificate.tacit_version}, certificate format {certificate.format_version}"
    shown += [("randomness", certificate.randomness), ("made by", version)]
    return (doc.Section("The certificate", (doc.Facts(shown), doc.Paragraph(check)), where="page"),)


def _scalars(prefix: str, part: Any) -> Rows:
    """The plain fields of a part of the certificate in words, without those that do not apply."""
    rows: Rows = []
    for key, value in ((field.name, getattr(part, field.name)) for field in fields(part)):
        if isinstance(value, bool) or not isinstance(value, (str, int, float)):
            continue
        shown: doc.Text = doc.Count(value) if isinstance(value, int) else doc.Number(value, "setting")  # type: ignore[arg-type]
        if isinstance(value, str):
            shown = doc.FilePath(value) if key in ("name", "file") else doc.DataValue(value, 80)
            shown = doc.Code(value) if "sha256" in key else shown
        rows.append((f"{prefix}: {key.replace('_', ' ')}", shown))
    return rows
