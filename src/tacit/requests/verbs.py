"""Which requests each verb takes."""

from __future__ import annotations

from tacit.requests.checking import AttackRequest, VerifyRequest
from tacit.requests.media import PatchNoise, WordMask
from tacit.requests.release import Bound, Ledgered, Making
from tacit.requests.settings import Request
from tacit.requests.table import Learning, Look, Question

AUDIT: tuple[type[Request], ...] = (Question, Look, Learning)
PROTECT: tuple[type[Request], ...] = (Question, Bound, Making, Learning, Ledgered, PatchNoise, WordMask)
VERIFY: tuple[type[Request], ...] = (VerifyRequest,)
ATTACK: tuple[type[Request], ...] = (AttackRequest,)
