"""The lens for vectors: embeddings, in a column of lists or an array, and what they give away."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tacit.rooms import face

if TYPE_CHECKING:
    from tacit.lenses.vectors.answers import VectorAuditResult as VectorAuditResult

if not TYPE_CHECKING:
    __getattr__, __dir__, __all__ = face(__name__)
