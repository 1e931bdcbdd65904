"""What is said about a release in cells."""

from __future__ import annotations

import math

from tacit.document import Nats
from tacit.errors import Sentence, sentence, together
from tacit.lenses.table.certifying.planned import FEW_RECORDS, CountedRelease
from tacit.lenses.table.kept.missing import missing_as_numbers
from tacit.lenses.table.loosening import other_bounds
from tacit.release.certificate import CountedCertificate
from tacit.release.claims import attained_in_words, file_sentence


class CellRelease(CountedRelease):
    """A release in cells: what it keeps is measured on the original table."""

    def headline(self, certificate: CountedCertificate) -> str:
        """The outcome in one sentence; what is kept is stated for columns, because readers read columns."""
        assert certificate.keeps is not None
        kept = f"{certificate.keeps.mean_kept:.1%} of a column on average"
        shared = f"each shared by {certificate.file.smallest:,} people or more"
        if certificate.mechanism.mixes:
            # A cell may occur less often in the file: the count is of those who have it before mixing.
            shared = f"each shared by {certificate.file.smallest:,} people or more before they were mixed"
        cost = f"its {certificate.mechanism.values:,} cells, {shared}, keep {kept}."
        if certificate.mechanism.values == 1:
            cost = "its one cell holds everybody, so it says nothing: no cut of a column is within the bound."
        elif not certificate.file.holds:
            cost = f"it keeps {kept}. {file_sentence(certificate.file)}"
        return sentence("{}: {}", attained_in_words(certificate), cost)

    def remarks(self) -> list[str]:
        """What else the owner should know."""
        notes = [self._few_note()] if self.counted.n_records < FEW_RECORDS else []
        code, question = self.rules.code, self.counted.question
        written = {} if code is None else dict(zip(code.columns, code.written, strict=True))
        for name in question.use:
            if len({*written.get(name, ("", "any"))}) == 1:
                notes.append(
                    f"column '{name}' was named as a use but is not shown at all: nothing can be learned about it"
                )
        for name, share in ({} if code is None else missing_as_numbers(self.counted, code)).items():
            words = "column '{name}': {share:.1%} of its missing values are written as the mean of their level"
            notes.append(sentence(words, name=name, share=share))
        proof = self.plan.proof
        if proof is not None:
            notes.append(
                f"{proof.records_to_choose:,} records chose the cells and {proof.records_to_prove:,} proved them: of "
                f"{proof.candidates:,} questions {proof.passed:,} passed"
            )
        return notes

    def diagnosis(self, certificate: CountedCertificate, max_loss: float) -> Sentence | None:
        """What to do when hardly anything of the table came through."""
        if certificate.mechanism.values > 1:
            return None
        words = "No cut of any column keeps {bound} with {least} people on both sides: the release says nothing."
        why = sentence(words, bound=Nats(certificate.epsilon, 6), least=self.least)
        question = self.counted.question
        return together(
            [
                why,
                other_bounds(
                    question.original,
                    question.secret,
                    epsilon=certificate.epsilon,
                    named=bool(question.secret_values),
                    thresholds=question.thresholds is not None,
                    upper=math.isinf(certificate.epsilon_low),
                ),
            ]
        )
