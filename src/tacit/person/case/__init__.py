"""The case file, read and checked: one person, the sources, the adversaries, the questions."""

from tacit.person.case.model import Case, DecoyTerms, Slot, VerifyTerms
from tacit.person.case.reading import read_case
from tacit.person.case.starting import person_init

__all__ = ["Case", "DecoyTerms", "Slot", "VerifyTerms", "person_init", "read_case"]
