"""The lens for posts: which words give a secret away, and a release that gives away less."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tacit.rooms import face

if TYPE_CHECKING:
    from tacit.lenses.text.answers.audit import TextAuditResult as TextAuditResult
    from tacit.lenses.text.answers.explanation import TextExplanation as TextExplanation
    from tacit.lenses.text.answers.release import TextProtectResult as TextProtectResult
    from tacit.lenses.text.audit import explain_text as explain_text
    from tacit.lenses.text.models import TextModel as TextModel

if not TYPE_CHECKING:
    __getattr__, __dir__, __all__ = face(__name__)
