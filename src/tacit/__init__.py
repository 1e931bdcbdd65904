"""Tacit shows what a dataset gives away without saying it, and makes a version that does not.

The verbs and the types that users name are here; everything else is in its room: ``tacit.requests``, ``tacit.lift``,
``tacit.learn``, ``tacit.tables``, ``tacit.release``, ``tacit.document``, ``tacit.report``, ``tacit.person``. Names load
on first use, so that ``import tacit`` brings in no engine and no scikit-learn.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tacit.rooms import face

__version__ = "0.2.0.dev0"

if TYPE_CHECKING:
    from tacit.codes import Cells as Cells
    from tacit.errors import (
        ArgumentError as ArgumentError,
        ColumnError as ColumnError,
        DataError as DataError,
        EngineError as EngineError,
        NotCertifiedError as NotCertifiedError,
        SourceError as SourceError,
        TacitError as TacitError,
    )
    from tacit.learn import (
        AutoLogLift as AutoLogLift,
        ClassifierLogLift as ClassifierLogLift,
        CountLogLift as CountLogLift,
        NeuralLogLift as NeuralLogLift,
        Watchdog as Watchdog,
    )
    from tacit.lenses.bench.answers import BenchResult as BenchResult
    from tacit.lenses.checking import CheckResult as CheckResult
    from tacit.lenses.table.answers.attack import AttackResult as AttackResult
    from tacit.lenses.table.answers.audit import AuditResult as AuditResult
    from tacit.lenses.table.answers.columns import ColumnsResult as ColumnsResult
    from tacit.lenses.table.answers.release import ProtectResult as ProtectResult
    from tacit.lenses.table.correcting import corrected_counts as corrected_counts
    from tacit.lenses.table.reading.reading import read as read
    from tacit.lenses.verification import VerifyResult as VerifyResult
    from tacit.lift import (
        Channel as Channel,
        Joint as Joint,
        arimoto as arimoto,
        critical_epsilons as critical_epsilons,
        e_gamma as e_gamma,
        f_information as f_information,
        gaussian_delta as gaussian_delta,
        gaussian_scale as gaussian_scale,
        guessing_probability as guessing_probability,
        local_dp as local_dp,
        log_lift as log_lift,
        maximal_leakage as maximal_leakage,
        mutual_information as mutual_information,
        nmil as nmil,
        optimal as optimal,
        partition as partition,
        promises as promises,
        risk as risk,
        sibson as sibson,
        watchdog as watchdog,
    )
    from tacit.person import (
        Record as Record,
        Reference as Reference,
        leakage as leakage,
        person_audit as person_audit,
        person_decoy as person_decoy,
        person_dip as person_dip,
        person_init as person_init,
        person_population as person_population,
        person_release as person_release,
        person_remove as person_remove,
        person_verify_next as person_verify_next,
        record_leakage as record_leakage,
    )
    from tacit.report import write_report as write_report
    from tacit.requests import Bound as Bound, Policy as Policy, Question as Question
    from tacit.verbs.attack import attack as attack
    from tacit.verbs.audit import audit as audit
    from tacit.verbs.check import check as check
    from tacit.verbs.explain import explain as explain
    from tacit.verbs.protect import protect as protect
    from tacit.verbs.verify import verify as verify

if not TYPE_CHECKING:
    __getattr__, __dir__, __all__ = face(__name__)
