"""The lines of a verification about what a certificate and its report say in words, and about utility."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path

from tacit.lift.bounds import watchdog_bound_exact
from tacit.lift.joint import Mask
from tacit.workflows.agreeing import AGREEMENT, agree
from tacit.workflows.certifying import REPORT, bounds_of, file_sha256, further_of, mixes, utility_of
from tacit.workflows.claims import NOTHING_DRAWN, assumption_of_learned, assumptions_of, randomness_of
from tacit.workflows.learning import COUNTS, MOST_RECORDS
from tacit.workflows.planning import MIXTURE
from tacit.workflows.results import Certificate, Check
from tacit.workflows.rules import Rules
from tacit.workflows.tabulating import Counted
from tacit.workflows.treatment import Mixing


def checks_of_words(certificate: Certificate, rules: Rules | None) -> list[Check]:
    """Assumptions and randomness are functions of what else is claimed: they are made again and compared."""
    drawn = rules.treatment.drawn if rules is not None else not certificate.randomness.startswith(NOTHING_DRAWN)
    learned_here = certificate.kind == "learned" and certificate.mechanism["learned_from"] != 0
    sources = [
        randomness_of(drawn=drawn, repeatable=repeatable, learned_here=learned_here) for repeatable in (False, True)
    ]
    rests_on = assumptions_of(
        secret=certificate.secret,
        cuts=certificate.cuts,
        left_out=certificate.left_out,
        weight=certificate.mechanism["weight"],
        bounds=bounds_of(certificate),
        randomness=certificate.randomness,
        also=further_of(certificate),
        mixture=mixes(certificate) if rules is None else isinstance(rules.treatment, Mixing),
        confidence=certificate.readings[1].confidence if certificate.readings else None,
    )
    if certificate.kind == "learned":
        exceeding = certificate.estimated_exceeding or 0.0
        rests_on += (assumption_of_learned(certificate.mechanism["estimator"], exceeding),)
    same, known = rests_on == certificate.assumptions, certificate.randomness in sources
    return [
        Check("assumptions", same, "as the claim calls for" if same else "they are not those of such a claim"),
        Check("randomness", known, "as protect says it" if known else "protect does not say so of such a release"),
        *(_checks_of_origin(certificate) if certificate.kind == "learned" else []),
    ]


def _checks_of_origin(certificate: Certificate) -> list[Check]:
    from tacit.learn.naming import ESTIMATORS

    by, records = certificate.mechanism["estimator"], certificate.input["records"]
    was_saved = by.startswith("the saved model ")
    named = was_saved or (by in ESTIMATORS and by != COUNTS)
    expected = 0 if was_saved else min(records, MOST_RECORDS)
    right = certificate.mechanism["learned_from"] == expected and certificate.mechanism["method"] == "learned partition"
    return [
        Check("estimator is one there is", named, by),
        Check(
            "learned from", right, f"{expected:,} records; the certificate says {certificate.mechanism['learned_from']}"
        ),
    ]


def checks_of_report(certificate: Certificate, directory: Path) -> list[Check]:
    """The page beside the certificate must be the one that was written with it."""
    claimed, page = certificate.output.get("report_sha256"), directory / REPORT
    if not page.exists():
        return []
    if claimed is None:
        return [Check("report is the one certified", None, f"{REPORT} is there, but the certificate lacks its SHA-256")]
    same = file_sha256(page) == claimed
    return [Check("report is the one certified", same, "SHA-256 agrees" if same else f"{REPORT} was changed")]


def notes_on_papers(certificate: Certificate, directory: Path, *, owner: bool, against: bool) -> tuple[str, ...]:
    """What of the papers could not be checked, though nothing speaks against it."""
    notes = []
    if not (directory / REPORT).exists():
        notes.append(f"there is no {REPORT} beside the certificate")
    if "loss_bound" in certificate.mechanism:
        notes.append("what the watchdog and the best mechanism would lose was not computed again")
    if against and not owner:
        notes.append("rows and cells unchanged were not checked: it takes private/rules.json")
    return tuple(notes)


def checks_of_utility(certificate: Certificate, found: Counted, rules: Rules, merged: Mask) -> list[Check]:
    """What the honest reader keeps, and how much was merged, computed again."""
    utility, mechanism = utility_of(found, rules), certificate.mechanism
    wrong = [
        f.name.replace("_", " ")
        for f in fields(utility)
        if not agree(getattr(utility, f.name), getattr(certificate.utility, f.name))
    ]
    counted = {"values": found.joint.shape[1], "values_merged": int(merged.sum())}
    wrong += [name.replace("_", " ") for name, size in counted.items() if mechanism[name] != size]
    plain = mechanism.get("plain_watchdog_attains")
    if plain is not None and not agree(watchdog_bound_exact(found.joint, certificate.epsilon), float(plain)):
        wrong.append("plain watchdog attains")
    # What others would lose is not computed again, but a mixture lies between the least loss and that of one set.
    if not float(mechanism.get("loss_bound", 0.0)) <= utility.nmil + AGREEMENT:
        wrong.append("loss bound")
    if mechanism["replacement"] == MIXTURE and not utility.nmil <= float(mechanism["watchdog_nmil"]) + AGREEMENT:
        wrong.append("watchdog nmil")
    told = f"differ: {', '.join(wrong)}" if wrong else f"{len(fields(utility)) + len(counted)} numbers recomputed"
    return [Check("what is kept and merged", not wrong, told)]
