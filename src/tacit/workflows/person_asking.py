"""A case with the question narrowed: some of its adversaries, and queries or releases that are not in its file."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from difflib import get_close_matches

from tacit.errors import ArgumentError
from tacit.person.records import Record
from tacit.workflows.person_case import read_case
from tacit.workflows.person_case_model import Case, Slot


def asked_case(
    case: Case | str | os.PathLike[str],
    *,
    adversaries: Sequence[str] = (),
    queries: Sequence[Record] = (),
    records: Sequence[Record] = (),
) -> Case:
    """The case with only these adversaries, queries and releases; what is empty stays as the case has it.

    Parameters
    ----------
    case : path or Case
        A case file, or one that was read.
    adversaries : sequence of str
        Names of adversaries of the case; their order stays that of the case.
    queries : sequence of Record
        Named records to dip with, in place of those of the case.
    records : sequence of Record
        Named records that might be released, in place of the releases of the case: options of one release.
    """
    whole = case if isinstance(case, Case) else read_case(case)
    if adversaries:
        known = [spec.name for spec in whole.adversaries]
        for name in adversaries:
            if name not in known:
                raise ArgumentError(f"no adversary '{name}' in {whole.path}{_near(name, known)} It has: {_all(known)}")
        whole = replace(whole, adversaries=tuple(spec for spec in whole.adversaries if spec.name in adversaries))
    for record in (*queries, *records):
        _check_labels(record, whole)
    if queries:
        whole = replace(whole, queries=tuple(queries))
    if records:
        whole = replace(whole, releases=(Slot("release", tuple(records)),))
    return whole


def _check_labels(record: Record, case: Case) -> None:
    """A label that nothing has cannot match: a slip of the pen must not look like safety."""
    known = sorted({*case.source_labels, *case.labels, *(label for label, _ in case.person or ())})
    for attribute in record:
        if attribute.label not in known:
            raise ArgumentError(
                f"no label '{attribute.label}' in the person or the sources of {case.path}"
                f"{_near(attribute.label, known)} They have: {_all(known)}"
            )


def _near(name: str, known: Sequence[str]) -> str:
    near = get_close_matches(name, known, n=1, cutoff=0.6)
    return f"; did you mean '{near[0]}'?" if near else "."


def _all(known: Sequence[str]) -> str:
    return ", ".join(known[:20]) + (", …" if len(known) > 20 else "")
