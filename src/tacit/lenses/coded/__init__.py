"""What images, posts and vectors share: records become codes, and every claim is counted on codes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tacit.rooms import face

if TYPE_CHECKING:
    from tacit.lenses.coded.answers import CodedProtectResult as CodedProtectResult

if not TYPE_CHECKING:
    __getattr__, __dir__, __all__ = face(__name__)
