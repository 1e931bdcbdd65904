"""The answers of the person's actions: results, their wording, and how much of a value may be seen."""

from tacit.person.answers.audit import PersonAuditResult
from tacit.person.answers.decoy import PersonDecoyResult
from tacit.person.answers.dip import PersonDipResult
from tacit.person.answers.masking import mask
from tacit.person.answers.population import PersonPopulationResult
from tacit.person.answers.release import PersonReleaseResult
from tacit.person.answers.remove import PersonRemoveResult
from tacit.person.answers.verify import PersonVerifyResult

__all__ = [
    "PersonAuditResult",
    "PersonDecoyResult",
    "PersonDipResult",
    "PersonPopulationResult",
    "PersonReleaseResult",
    "PersonRemoveResult",
    "PersonVerifyResult",
    "mask",
]
