"""Whether a release that rests on an estimate is fit to be published: it may fail though its certificate is true."""

from __future__ import annotations

from collections.abc import Sequence

from tacit.document import Share
from tacit.errors import sentence
from tacit.lenses.bench.answers import untouched_words
from tacit.release.checks import Check

AS_THEY_WERE, _READ = "nothing is released unchanged", "no family reads the secret"
_UNFIT = "Do not publish it, although what is stated about it is true"


def check_of_untouched(untouched: int, records: int, unit: str, *, parts: Sequence[tuple[int, int]] = ()) -> Check:
    """No record may be released unchanged; ``parts`` are the counts in each third that was treated."""
    words = untouched_words(untouched, records, unit, parts=parts).rstrip(".")
    return Check(AS_THEY_WERE, untouched == 0, words)


def check_of_readers(best: float, prior: float, *, read: bool) -> Check:
    """No family of adversaries may surely guess more than somebody who does not look."""
    words = "the best family guesses {best} right; always guessing the commonest is right {prior} of the time"
    return Check(_READ, not read, sentence(words, best=Share(best), prior=Share(prior)))


def broken_words(checks: Sequence[Check], untrue: str) -> str:
    """How the headline begins if a check failed: ``untrue``, unless everything stated is true."""
    failed = {check.name for check in checks if check.passed is False}
    return _UNFIT if failed <= {AS_THEY_WERE, _READ} else untrue
