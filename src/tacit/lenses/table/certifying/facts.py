"""What all certificates of tables have in common: facts, measures before and after, and what is kept."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from tacit import __version__
from tacit.lenses.table.tabulating import Counted
from tacit.lift import MEASURES, Joint
from tacit.loading import file_sha256
from tacit.release.bounds import LiftBounds
from tacit.release.certificate import CertifiedInput, MeasureChange, Utility
from tacit.release.channel import PublishedChannel
from tacit.release.claims import randomness_of
from tacit.release.data import data_written
from tacit.release.directory import ReleaseDraft
from tacit.release.flows import channel_of
from tacit.release.keys import committed
from tacit.release.rules import ReleaseRules
from tacit.release.whole_file import WholeFile, people_of
from tacit.requests import Making
from tacit.tables.counting import TooManyValues, count

# With more records than this, the original rows are not counted just to say what they gave away.
MOST_GIVEN = 200_000


def measures_of(
    bounds: LiftBounds, original: Joint | None, output: Joint, *, known: bool = False
) -> tuple[MeasureChange, ...]:
    """Every measure before (if that was counted) and after, and what the bounds promise about it.

    Bounds inside what is ``known`` promise nothing about what the release tells somebody who does not know it.
    """
    promised = {} if known else bounds.promised(output)
    return tuple(
        MeasureChange(
            name=m.name,
            title=m.title,
            before=None if original is None else float(m.function(original)),
            after=float(m.function(output)),
            promise=promised.get(m.name),
            unit=m.unit,
        )
        for m in MEASURES.values()
    )


def given_joint(counted: Counted) -> Joint | None:
    """The joint of the secret and the original released columns; None if counting it costs too much."""
    question = counted.question
    if question.code is None:
        return counted.joint
    if counted.n_records > MOST_GIVEN:
        return None
    try:
        counts = count(question.as_given(), [*question.secret, *question.released], weight=question.weight)
        return counts.joint(question.secret, question.released)[0]
    except TooManyValues:
        return None


def facts_of(
    counted: Counted,
    rules: ReleaseRules,
    draft: ReleaseDraft,
    data_file: str,
    making: Making,
    key: bytes,
    fingerprint: str | None,
) -> dict[str, Any]:
    """What all certificates of tables say, once the data is written; ``worded`` fills in the words from the numbers."""
    question, records = counted.question, counted.n_records
    shown = {*question.released, *(question.hidden if making.keep_secret else ())}
    repeatable = making.random_state is not None
    return {
        "claim": "",
        "assumptions": (),
        "epsilon": rules.bounds.epsilon,
        "secret": question.secret,
        "secret_values": question.secret_values,
        "thresholds": rules.bounds.thresholds,
        "known": question.known if question.code is not None else (),
        "released": question.released,
        "utility": utility_of(counted, rules),
        "cuts": question.cuts,
        "left_out": tuple(name for name in question.original.names if name not in shown),
        "input": CertifiedInput(
            name=Path(question.original.name).name,
            format=question.original.format,
            records=records,
            salted_sha256=draft.salted(fingerprint),
        ),
        "output": replace(
            data_written(draft.place, data_file, records),
            channel_sha256=file_sha256(draft.channel) if draft.channel.exists() else None,
            key_sha256=committed(key, draft.salt) if rules.treatment.drawn else None,
        ),
        "randomness": randomness_of(drawn=rules.treatment.drawn, repeatable=repeatable),
        "tacit_version": __version__,
    }


def whole_file_of(counted: Counted, rules: ReleaseRules, least: int) -> WholeFile:
    """How many people share each value that the release may hold."""
    # The last position is for values that were not seen.
    position = np.append(counted.symbols.positions_in(rules.symbols), -1)
    return WholeFile.of(people_of(rules.treatment, rules.symbols, records=counted.people, position=position), least)


def channel_made(counted: Counted, rules: ReleaseRules, least: int) -> PublishedChannel | None:
    """The channel that a release publishes; None if nothing is drawn."""
    if not rules.treatment.drawn:
        return None
    return channel_of(rules.treatment, rules.symbols, counted.symbols, counted.people, least=least)


def utility_of(counted: Counted, rules: ReleaseRules) -> Utility:
    """What the honest reader keeps; rows and cells unchanged are expected shares if replacements are drawn.

    A release in cells is compared with the original table, any other with the table after its cuts.
    """
    kept = rules.treatment.kept(counted.joint.marginal, counted.symbols, rules.symbols)
    if rules.code is None:
        return kept
    entropy_given = counted.given_entropy
    exact = rules.code.exact(counted.symbols)
    return Utility(
        mutual_information=kept.mutual_information,
        entropy=entropy_given,
        nmil=1 - min(1.0, kept.mutual_information / entropy_given) if entropy_given > 0 else 0.0,
        rows_unchanged=float(counted.joint.marginal @ exact.all(axis=1)) * kept.rows_unchanged,
        cells_unchanged=float(counted.joint.marginal @ exact.mean(axis=1)) * kept.cells_unchanged,
        column_shift=kept.column_shift,
    )
