"""The lens for tables: what columns give away, and a version that keeps the secret."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tacit.rooms import face

if TYPE_CHECKING:
    from tacit.lenses.table.answers.attack import AttackResult as AttackResult
    from tacit.lenses.table.answers.audit import AuditResult as AuditResult
    from tacit.lenses.table.answers.release import ProtectResult as ProtectResult
    from tacit.lenses.table.results import CorrectedColumn as CorrectedColumn, CorrectedValue as CorrectedValue

if not TYPE_CHECKING:
    __getattr__, __dir__, __all__ = face(__name__)
