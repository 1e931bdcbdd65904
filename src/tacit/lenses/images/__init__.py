"""The lens for images: which patches give a label away, and a release that gives away less."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tacit.rooms import face

if TYPE_CHECKING:
    from tacit.lenses.images.answers.audit import ImageAuditResult as ImageAuditResult
    from tacit.lenses.images.answers.release import ImageProtectResult as ImageProtectResult
    from tacit.lenses.images.hog import HogClassifier as HogClassifier
    from tacit.lenses.images.images import Images as Images, open_images as open_images

if not TYPE_CHECKING:
    __getattr__, __dir__, __all__ = face(__name__)
