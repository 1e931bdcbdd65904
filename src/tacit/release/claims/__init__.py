"""Claims in words: what a certificate says, what it rests on and how to read it. All of it follows from its numbers."""

from __future__ import annotations

from tacit.release.claims.chance import NOTHING_DRAWN as NOTHING_DRAWN, randomness_of as randomness_of
from tacit.release.claims.coded import share_up as share_up
from tacit.release.claims.counted import (
    attained_in_words as attained_in_words,
    file_sentence as file_sentence,
    promise_in_words as promise_in_words,
)
from tacit.release.claims.dispatch import (
    assumptions_in_words as assumptions_in_words,
    claim_in_words as claim_in_words,
    worded as worded,
)
from tacit.release.claims.factors import factor_up as factor_up
from tacit.release.claims.media import OF_A_SINGLE_POST as OF_A_SINGLE_POST
from tacit.release.claims.readings import (
    NOT_PROVED as NOT_PROVED,
    population_sentence as population_sentence,
    readings_of as readings_of,
    sample_proof as sample_proof,
    sample_sentence as sample_sentence,
)
