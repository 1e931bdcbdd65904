"""What a worker does with some records of a case: what they say, and what of it concerns the person."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from tacit.person.inquiry.hot import hit_rows
from tacit.person.inquiry.subject import Subject, remembering
from tacit.person.inquiry.work import stepped
from tacit.person.link.attributes import Attributes, IntArray
from tacit.person.link.distributed.rows import holding_rows, record_rows, right_rows, said_rows, unread_rows
from tacit.person.link.forms.unread import Unread, unread_values
from tacit.person.link.recognising import Recognition
from tacit.person.link.wide import gathered
from tacit.person.model.labels import Labels
from tacit.person.model.records import Reference
from tacit.person.resolve.steps import Normalise, Step

if TYPE_CHECKING:
    import pyarrow as pa

# Values as some steps of an adversary leave them; no step is the view of who reads the sources.
View = tuple[Step, ...]
READ: View = ()


@dataclass(frozen=True)
class Looking:
    """Looks through records for what concerns a person, in every view of their values that an adversary takes.

    Guarantees
    ----------
    All that it returns depends on one record at a time, so records may be looked through in parts. Values are read,
    formed and compared by the code that does so for all records on one machine.
    """

    labels: Labels
    reference: Reference
    views: Sequence[View]

    def __reduce__(self) -> tuple[type[Looking], tuple[Labels, Reference, Sequence[View]]]:
        # What is remembered stays here.
        return Looking, (self.labels, self.reference, self.views)

    def rows(self, read: Attributes, rids: IntArray, names: pa.Array | None) -> Iterator[pa.Table]:
        """Rows about records, as :mod:`tacit.person.link.distributed.rows` makes them; they are ``rids`` among all."""
        forms = self._stepped(read, Normalise())
        yield record_rows(names, rids)
        for view, steps in enumerate(self.views):
            recognition = self.recognition(read, forms, steps)
            yield said_rows(recognition.attributes, view, rids)
            yield right_rows(recognition.right, view, rids)
            yield holding_rows(recognition, view, rids)
        for (label, what), values in unread_values(read, forms, self.reference, self.labels).items():
            yield unread_rows(label, values, UNREAD_VIEWS.index(what))

    def recognition(self, read: Attributes, forms: Attributes, steps: View) -> Recognition:
        """What is right in one view of these records, and what they come near to."""
        attributes = read
        for place, step in enumerate(steps):
            attributes = forms if place == 0 and step == Normalise() else self._stepped(attributes, step)
        right = hit_rows(attributes, self._subject, forms if attributes is read else None)
        return Recognition(right, attributes, self._subject.comparer, self.reference)

    @property
    def nobody(self) -> Recognition:
        """Decides which records are the person's by what is counted elsewhere."""
        none = gathered([]).attributes
        return self.recognition(none, self._stepped(none, Normalise()), READ)

    @property
    def may_be_unread(self) -> tuple[Unread, ...]:
        """Of which labels values may not be comparable, and why, in the order of notes."""
        none = gathered([]).attributes
        return tuple(unread_values(none, self._stepped(none, Normalise()), self.reference, self.labels))

    def _stepped(self, attributes: Attributes, step: Step) -> Attributes:
        return stepped(attributes, step, self._subject.labels)

    @cached_property
    def _subject(self) -> Subject:
        return Subject(self.reference, remembering(self.labels))


# By which number rows about values that could not be compared say why.
UNREAD_VIEWS = ("days", "letters")
