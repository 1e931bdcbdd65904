"""Letters that ask for erasure. They cite the law, and say no more about the person than is needed to find them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Final, Literal

from tacit.person.model.kinds import usual
from tacit.person.model.labels import Labels
from tacit.person.model.records import Fact, Record, Reference

Law = Literal["gdpr", "ccpa", "both"]

# Where the General Data Protection Regulation is law, or, in the United Kingdom, law under that name.
_GDPR: Final = "AT BE BG CY CZ DE DK EE ES FI FR GB GR HR HU IE IS IT LI LT LU LV MT NL NO PL PT RO SE SI SK"
# By what people are looked for, the best first.
_CONTACTS: Final = ("email", "phone", "username", "address")
_ARTICLE_17: Final = """## Article 17 of the General Data Protection Regulation

Please erase all personal data about me without undue delay, and at the latest within one month of this request
(articles 12(3) and 17(1)). I withdraw any consent that I have given, and object to any further processing (article 21).

Please tell everybody to whom you have disclosed the data, and tell me who they are (articles 17(2) and 19). If you keep
some of it, tell me which, and on which ground of article 17(3). If you do not act, I may complain to a supervisory
authority (articles 12(4) and 77).

What this letter says is enough to find me. Please ask for more only if you have reasonable doubts about who I am, and
then for no more than is needed (article 12(6)).
"""
_SECTION_1798: Final = """## California Consumer Privacy Act

Please delete all personal information that you have collected about me, and have your service providers, contractors
and the third parties to whom you have sold it or with whom you have shared it delete it too (Cal. Civ. Code section
1798.105). Please do not sell or share it any more (section 1798.120).

Please confirm this request within 10 business days, and answer it within 45 calendar days (section 1798.130; Cal. Code
Regs. title 11, section 7021). If you keep some of the information, tell me which, and under which exception of section
1798.105(d).
"""
_TEXTS: Final = {"gdpr": (_ARTICLE_17,), "ccpa": (_SECTION_1798,), "both": (_ARTICLE_17, _SECTION_1798)}


@dataclass(frozen=True)
class LetterTerms:
    """Whom a letter goes to, under which law, and by what the person can be found there.

    ``services`` are the services that a source stands for, if it is a list of them.
    """

    source: str
    law: Law
    name: str | None = field(default=None, repr=False)
    contact: Fact | None = field(default=None, repr=False)
    services: tuple[str, ...] = ()


def law_of(law: Law | None, country: str | None) -> Law:
    """The law that a letter cites: the one asked for, or that of the country, or both if neither is known."""
    if law is not None or country is None:
        return law or "both"
    return "gdpr" if country in _GDPR.split() else "ccpa" if country == "US" else "both"


def known_by(records: Iterable[Record], reference: Reference, labels: Labels) -> tuple[str | None, Fact | None]:
    """The person's name and one value to find them by, each only if the records hold it; the value as they write it.

    Guarantees
    ----------
    A value that no record holds is not given away by asking for its erasure.
    """
    spellings: dict[Fact, list[str]] = {}
    for record in records:
        for label, value, _ in record:
            spellings.setdefault((label, labels[label].meant(value)), []).append(value)
    facts = {fact: there for fact in reference if (there := spellings.get((fact[0], labels[fact[0]].meant(fact[1]))))}
    name = next((value for label, value in facts if usual(label) == "name"), None)
    # A shop that has "al+shop@mail.example" would not find "al@mail.example", and need not learn it.
    contacts = (
        (label, value if value.casefold() in map(str.casefold, there) else there[0])
        for kind in _CONTACTS
        for (label, value), there in facts.items()
        if usual(label) == kind
    )
    return name, next(contacts, None)


def letter(terms: LetterTerms) -> str:
    """The letter, in Markdown; what is in square brackets must be filled in."""
    name = "[your name]" if terms.name is None else _line(terms.name)
    ways = [] if terms.name is None else [f"under the name {name}"]
    ways += [] if terms.contact is None else [f"by the {terms.contact[0]} {_line(terms.contact[1])}"]
    where = " and ".join(ways) or "by [what they know you by, and no more]"
    to = [f"{terms.source} [and its address: its privacy notice names one]"]
    if terms.services:
        to = [f"[each of these, in a letter of its own] {', '.join(terms.services)}"]
    parts: Sequence[str] = (
        "# Request for erasure of personal data",
        f"To: {to[0]}\n\nDate: [date]",
        f"You hold personal data about me. You can find it {where}.",
        *(text.strip() for text in _TEXTS[terms.law]),
        f"Yours faithfully\n\n{name}",
    )
    return "\n\n".join(parts) + "\n"


def file_names(sources: Sequence[str]) -> list[str]:
    """The file names of the letters to these sources, in the same order."""
    return [
        f"{place:02d}-{re.sub(r'[^A-Za-z0-9]+', '-', source).strip('-').lower()[:40] or 'source'}.md"
        for place, source in enumerate(sources, start=1)
    ]


def _line(value: str) -> str:
    return " ".join(value.split())
