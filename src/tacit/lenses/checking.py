"""Whether sources meet a policy: the answer of ``check``."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from tacit import document as doc
from tacit.errors import PLAIN, Wording, sentence
from tacit.lenses.glossary import DEFINITIONS
from tacit.release.policy.lines import UNNAMED, CheckedSource
from tacit.report.result import Result


@dataclass(frozen=True)
class CheckResult(Result):
    """Whether every source keeps the policy: it passes only if every line of every source does.

    The verdict is ``error`` if any source could not be read or counted, whatever became of the others.
    """

    policy: str
    verdict: Literal["passes", "fails", "error"]
    headline: str
    sources: tuple[CheckedSource, ...]

    @classmethod
    def of(cls, policy: str, sources: tuple[CheckedSource, ...]) -> CheckResult:
        """The verdict that follows from the lines."""
        unread = next((each for each in sources if each.error is not None), None)
        if unread is not None and unread.error is not None:
            words = "{source} could not be checked: {detail}."
            headline = sentence(words, source=doc.FilePath(unread.source), detail=unread.error.detail)
            return cls(policy, "error", headline, sources)
        bad = [each for each in sources if each.failed]
        if not bad:
            what = "keeps" if len(sources) == 1 else "keep"
            headline = sentence("{} {what} the policy.", doc.Count(len(sources), "source"), what=what)
            return cls(policy, "passes", headline, sources)
        first, words = bad[0].failed[0], "{source} does not keep the policy: {name} ({detail})."
        if len(bad) > 1:
            words = "{bad} of {all} do not keep the policy. The first is {source}: {name} ({detail})."
        named = {"source": doc.FilePath(bad[0].source), "name": first.name, "detail": first.detail}
        headline = sentence(words, bad=doc.Count(len(bad)), all=doc.Count(len(sources), "source"), **named)
        return cls(policy, "fails", headline, sources)

    def to_junit(self, *, wording: Wording = PLAIN) -> str:
        """The lines as JUnit's XML."""
        from tacit.report.gates.junit import to_junit

        return to_junit(self.sources, wording=wording)

    def to_sarif(self, *, wording: Wording = PLAIN) -> str:
        """The lines that did not pass as SARIF 2.1.0."""
        from tacit.report.gates.sarif import to_sarif

        return to_sarif(self.sources, wording=wording)

    def document(self) -> doc.Document:
        """Every source, line by line."""
        notes = list(dict.fromkeys(note for each in self.sources for note in each.notes))
        return doc.Document(
            kind="check",
            name=sentence("Tacit check by {policy}", policy=doc.FilePath(self.policy)),
            badge=doc.badge(self.verdict),
            headline=self.headline,
            sections=(*map(_section, self.sources), *doc.notes_section(notes)),
            reading=DEFINITIONS,
            footer=(doc.FilePath(self.policy),),
        )


def _section(source: CheckedSource) -> doc.Section:
    outcomes = {None: "not checked", True: "passed", False: "failed"}
    rows = [
        (doc.Cell(each.name, style="bold"), doc.badge(outcomes[each.passed]), each.detail) for each in source.checks
    ]
    words = "The table" if source.source == UNNAMED else "{kind} {source}"
    title = sentence(words, kind=source.kind.capitalize(), source=doc.FilePath(source.source))
    return doc.Section(title, (doc.TableBlock(("Asked", "Outcome", "Found"), rows),))
