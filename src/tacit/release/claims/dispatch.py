"""A certificate in words, whatever its kind: all of it follows from its numbers."""

from __future__ import annotations

from dataclasses import replace
from functools import singledispatch
from typing import TypeVar

from tacit.release.certificate import Certificate

C = TypeVar("C", bound=Certificate)


def worded(certificate: C) -> C:
    """The certificate with the claim and the assumptions that its numbers call for."""
    return replace(certificate, claim=claim_in_words(certificate), assumptions=assumptions_in_words(certificate))


@singledispatch
def claim_in_words(certificate: Certificate) -> str:
    """What is claimed, from nothing but the numbers of a certificate."""
    raise TypeError(f"no claim of {type(certificate).__name__}")


@singledispatch
def assumptions_in_words(certificate: Certificate) -> tuple[str, ...]:
    """What a claim rests on, in sentences: a function of the rest of the certificate, so that it can be checked."""
    raise TypeError(f"no assumptions of {type(certificate).__name__}")
