"""What changed since the last audit, as a section."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from tacit import document as doc
from tacit.person.answers.presenting import leak
from tacit.person.answers.results import AuditChanges
from tacit.person.answers.words import counted, listed


def since_section(changes: AuditChanges | None) -> Sequence[doc.Section]:
    """The section, if there was an audit before."""
    if changes is None:
        return ()
    rows = [
        (doc.DataValue(one.adversary, 40), "–" if one.then is None else leak(one.then), leak(one.now))
        for one in changes.rungs
    ]
    table = doc.TableBlock(("Adversary", ">Leakage then", ">Now"), rows)
    sentences = _sentences(changes) or ["Nothing new is known, and no source has changed."]
    return (doc.Section(f"Since the last audit, on {changes.since}", (doc.Paragraph(" ".join(sentences)), table)),)


def _sentences(changes: AuditChanges) -> list[str]:
    known = [
        f"{what}: {_counts(facts)}."
        for what, facts in (("Newly known", changes.new_facts), ("No longer known", changes.gone_facts))
        if facts
    ]
    sources = [
        f"{what}: {listed(names)}."
        for what, names in (("New sources", changes.new_sources), ("Rewritten", changes.rewritten))
        if names
    ]
    sources += [f"{counted(changes.gone_sources, 'source')} gone."] if changes.gone_sources else []
    records = [
        f"{what}: {_counts(counts)}."
        for what, counts in (("New records", changes.new_records), ("Records gone", changes.gone_records))
        if counts
    ]
    other = "The case now says other things about the person, so the leakages are not about the same file."
    return [*known, *sources, *records, *([] if changes.same_person else [other])]


def _counts(counts: Mapping[str, int]) -> str:
    return listed([f"{name} ({count:,})" for name, count in counts.items()])
