"""A case opened: its records, what its adversaries do with them, and what-if questions."""

from tacit.person.inquiry.crowd import crowd_note, references_of
from tacit.person.inquiry.decoying import decoy_action, decoy_plan
from tacit.person.inquiry.describing import does, fitted_once, unseen_note
from tacit.person.inquiry.effects import SAME, changes, ranked, removals, source_shares
from tacit.person.inquiry.findings import RecordNames, finding, source_facts
from tacit.person.inquiry.hot import Shrinking, renumbered
from tacit.person.inquiry.loading import Near, near, numbered
from tacit.person.inquiry.opening import CaseLike, Inquiry, narrowed, opened, read_sources

__all__ = [
    "SAME",
    "CaseLike",
    "Inquiry",
    "Near",
    "RecordNames",
    "Shrinking",
    "changes",
    "crowd_note",
    "decoy_action",
    "decoy_plan",
    "does",
    "finding",
    "fitted_once",
    "narrowed",
    "near",
    "numbered",
    "opened",
    "ranked",
    "read_sources",
    "references_of",
    "removals",
    "renumbered",
    "source_facts",
    "source_shares",
    "unseen_note",
]
