"""Breaches as Have I Been Pwned lists them: which classes of data got out, but no values.

For an account it is a list of breaches; fetch it with ``truncateResponse=false``. It says that, for example, the e-mail
address and the date of birth were in a breach; so each breach becomes a record with the person's own values.
For a domain it is what got out for every address there, by the part before the @: see :mod:`domains`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from tacit.errors import DataError
from tacit.loading import bytes_in
from tacit.person.model.records import Reference
from tacit.person.sources.formats.domains import Account, accounts_in, whose
from tacit.person.sources.formats.format import Beginning, FileFormat, Reading, usual_labels
from tacit.person.sources.source import FileRecord, Source, parsed

CLASS_LABELS = usual_labels("breaches")
ADDRESSES = "Email addresses"
VERIFIED, UNVERIFIED, SPAM_LIST = 1.0, 0.5, 0.3


class _Breach(NamedTuple):
    """A breach, its name, its classes of data and, in an export of a domain, the account it belongs to."""

    fields: Mapping[str, Any]
    name: str
    classes: list[str]
    account: Account | None


def labels_in(source: Source) -> set[str]:
    """The labels that the breaches in a file include."""
    labels = source.labels_of(CLASS_LABELS)
    return {label for one in _breaches(source) for each in one.classes if (label := labels.get(each)) is not None}


def read_breaches(source: Source, person: Reference) -> Reading:
    """The breaches of a file, and sentences about what was left out: fabricated ones, and classes that do not apply."""
    labels = source.labels_of(CLASS_LABELS)
    records: list[FileRecord] = []
    left_out: dict[str, set[str]] = {
        "left out as fabricated": set(),
        "data classes without a label, left out": set(),
        "breaches hold labels the person has no value of, left out (any word in the case counts one)": set(),
    }
    fabricated, unlabelled, missing = left_out.values()
    nobody, classless = 0, False
    for fields, name, classes, account in _breaches(source):
        if fields.get("IsFabricated") is True:
            fabricated.add(name)
            continue
        unlabelled |= {each for each in classes if each not in labels}
        wanted = dict.fromkeys(label for each in classes if (label := labels.get(each)) is not None)
        addresses = labels.get(ADDRESSES)
        own = person.values(addresses) if addresses is not None else ()
        if account is not None:
            classless |= "DataClasses" not in fields
            own, others = whose(account, own)
            if not own:
                # About somebody else the file gives only the address, if it gives the domain.
                nobody += not others
                facts = [(addresses, other) for other in others if addresses is not None]
                records += [FileRecord(name, facts, _confidence(fields))] if facts else []
                continue
        missing |= {label for label in wanted if not person.values(label)}
        values = {label: own if label == addresses else person.values(label) for label in wanted}
        facts = [(label, value) for label, some in values.items() for value in some]
        records.append(FileRecord(name, facts, _confidence(fields)))
    notes = [f"source '{source.name}': {what}: {', '.join(sorted(some))}" for what, some in left_out.items() if some]
    if classless:
        notes.append(
            f"source '{source.name}': it names breaches and not what was in them, so that only the address counts; the "
            "list of the account's own breaches says more"
        )
    if nobody:
        notes.append(f"source '{source.name}': {nobody:,} breaches of other accounts of the domain, left out")
    return records, notes


def _breaches(source: Source) -> Iterator[_Breach]:
    wanted = "JSON; save the service's answer unchanged"
    data = parsed(bytes_in(source.file, "list of breaches"), source.file, wanted)
    accounts = accounts_in(data)
    if accounts is None:
        yield from _listed(source, data if isinstance(data, list) else [data], None)
    for account in accounts or ():
        whole = [{"Name": each} if isinstance(each, str) else each for each in account.breaches]
        yield from _listed(source, whole, account)


def _listed(source: Source, breaches: list[Any], account: Account | None) -> Iterator[_Breach]:
    for place, breach in enumerate(breaches, start=1):
        if not isinstance(breach, dict):
            raise DataError(f"{source.file} is not a list of breaches: save the service's answer unchanged")
        where, name, classes = f"{source.file}, breach {place}", breach.get("Name"), breach.get("DataClasses")
        if not isinstance(name, str) or not name:
            raise DataError(f"{where} has no Name: is it a list of Have I Been Pwned breaches?")
        if account is not None and classes is None:
            classes = [ADDRESSES]
        if not isinstance(classes, list) or not all(isinstance(each, str) for each in classes):
            raise DataError(f"{where} has no DataClasses: fetch it with truncateResponse=false")
        yield _Breach(breach, name, classes, account)


def _confidence(breach: Mapping[str, Any]) -> float:
    verified = VERIFIED if breach.get("IsVerified", True) is True else UNVERIFIED
    return min(verified, SPAM_LIST) if breach.get("IsSpamList") is True else verified


def _read(source: Source, person: Reference | None) -> Reading:
    assert person is not None, "a case with breaches has a person"
    return read_breaches(source, person)


def _fits(file: Beginning) -> bool:
    listed = file.first or (file.whole if isinstance(file.whole, dict) else {})
    return {"Name", "DataClasses"} <= listed.keys() or accounts_in(file.whole) is not None


FORMAT = FileFormat(
    "breaches", "Have I Been Pwned breaches", fits=_fits, usual=CLASS_LABELS, read=_read, labels=labels_in
)
