"""Requests: what a verb is asked, declared once. Keywords, options, forms and the JSON schema follow from them.

A request is a frozen dataclass whose fields carry their own reading and help (see ``tacit.requests.settings``). It is
checked once, when it is made.
"""

from tacit.requests.asking import asked, given, schema
from tacit.requests.media import Coding, PatchNoise, WordMask
from tacit.requests.policy import Policy, read_policy
from tacit.requests.release import Bound, Ledgered, Making
from tacit.requests.settings import Request, settings_of
from tacit.requests.table import Learning, Look, Question
from tacit.requests.verbs import AttackRequest, CheckRequest, VerifyRequest

__all__ = [
    "AttackRequest",
    "Bound",
    "CheckRequest",
    "Coding",
    "Learning",
    "Ledgered",
    "Look",
    "Making",
    "PatchNoise",
    "Policy",
    "Question",
    "Request",
    "VerifyRequest",
    "WordMask",
    "asked",
    "given",
    "read_policy",
    "schema",
    "settings_of",
]
