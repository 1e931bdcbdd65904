"""Hand-made results of the four workflows, for tests of what presents them."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

from sizes import many
from tacit import AttackResult, AuditResult, CheckResult, ProtectResult, VerifyResult
from tacit.document import CalibrationPoint, CurvePoint, Nats, RiskHistogram
from tacit.errors import Command, sentence
from tacit.lenses.facts import SecretValue, SourceFacts
from tacit.lenses.table.ladder.results import Ladder, ReleaseRung
from tacit.lenses.table.linkage.results import ColumnRead, Cure, FoundBy, LinkageFinding, LinkageScore, PeopleFound
from tacit.lenses.table.results import (
    ColumnLeak,
    ColumnRole,
    LearnedCandidate,
    LearnedFindings,
    LearnedRiskyValue,
    LearnedSafeShare,
    MeasureFinding,
    RiskyValue,
    SafeShare,
    Suggestion,
)
from tacit.lift import Estimate
from tacit.release import AdversaryScore, Check, CountedCertificate, MeasureChange, Reading, Utility, WholeFile
from tacit.release.certificate import CertifiedInput, CertifiedOutput, CountedMechanism
from tacit.release.policy.lines import CheckedSource, PolicyCheck
from tacit.tables import Cut, GroupSizes

INF = math.inf
SHA = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"

CURVE = tuple(
    CurvePoint(
        epsilon=e, attained=a, nmil=n, utility=2.9 * (1 - n), leakage=0.11 * (1 - n) ** 2, records_kept=1 - n * 0.9
    )
    for e, a, n in (
        (0.05, 0.041, 0.93),
        (0.1, 0.088, 0.81),
        (0.2, 0.19, 0.62),
        (0.3, 0.27, 0.44),
        (0.5, 0.46, 0.24),
        (0.75, 0.73, 0.13),
        (1.0, 0.98, 0.071),
        (1.5, 1.44, 0.022),
        (2.0, 1.93, 0.006),
        (3.0, INF, 0.0),
    )
)

BEFORE = RiskHistogram(
    edges=tuple(0.25 * k for k in range(13)),
    shares=(0.31, 0.19, 0.13, 0.09, 0.07, 0.05, 0.04, 0.03, 0.02, 0.014, 0.01, 0.005),
    infinite_share=0.041,
    quantiles={"50%": 0.46, "90%": 1.71, "95%": 2.4, "99%": INF, "100%": INF},
)
AFTER = RiskHistogram(
    edges=tuple(0.25 * k for k in range(13)),
    shares=(0.76, 0.24, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0),
    infinite_share=0.0,
    quantiles={"50%": 0.11, "90%": 0.42, "95%": 0.45, "99%": 0.46, "100%": 0.46},
)


def measure_findings() -> tuple[MeasureFinding, ...]:
    """Five measures: of information and a probability, some leak, one within its band, one that is infinite."""
    return (
        MeasureFinding(
            "mutual_information",
            "Mutual information",
            0.1123,
            0.6201,
            0.0102,
            0.0144,
            0.001,
            "leak",
            "What the released columns say about the secret on average over records.",
        ),
        MeasureFinding(
            "maximal_leakage",
            "Maximal leakage",
            0.8341,
            1.6094,
            0.2212,
            0.3034,
            0.001,
            "leak",
            "How much the best guess of any function of the secret can gain.",
        ),
        MeasureFinding(
            "arimoto_infinity",
            "Guessing gain",
            0.0121,
            0.1572,
            0.0101,
            0.0163,
            0.38,
            "cannot tell",
            "How much more often the secret itself is guessed right.",
        ),
        MeasureFinding(
            "guessing_probability",
            "Probability of guessing the secret",
            0.862,
            1.0,
            0.855,
            0.859,
            0.004,
            "leak",
            "How often the best guess of the secret is right.",
            "probability",
        ),
        MeasureFinding(
            "max_risk",
            "Largest risk",
            INF,
            INF,
            1.92,
            INF,
            0.61,
            "cannot tell",
            "The largest absolute log-lift of any released value.",
        ),
    )


def risky_values() -> tuple[RiskyValue, ...]:
    """A value that rules a secret out, one that gives one away, one that may be chance."""
    return (
        RiskyValue(
            {"zip": "7255", "age": "30–39", "sex": "F", "job": "farming"},
            214.0,
            "Black",
            0.0961,
            0.0,
            -INF,
            INF,
            (("zip", -INF), ("age", -0.04), ("sex", 0.11), ("job", -0.32)),
            3e-9,
            "None of the 214 records with this value has the secret 'Black'; at its prior share there would be 20.6.",
        ),
        RiskyValue(
            {"zip": "2000", "age": "20–29", "sex": "M", "job": "service"},
            61.0,
            "Black",
            0.0961,
            0.6557,
            1.92,
            1.92,
            (("zip", 1.31), ("age", 0.28), ("sex", -0.05), ("job", 0.38)),
            1.2e-5,
            "'Black' is 6.8 times as common among these 61 records as in the whole table; zip says most of it.",
        ),
        RiskyValue(
            {"zip": "3012", "age": "60–69", "sex": "M", "job": "clerical"},
            7.0,
            "Other",
            0.0083,
            0.1429,
            2.84,
            2.84,
            (("zip", 0.42), ("age", 1.96), ("sex", 0.01), ("job", 0.45)),
            0.21,
            "One of only 7 records has the secret 'Other'; a shuffled secret does as much in 21% of cases.",
        ),
    )


def people_found() -> PeopleFound:
    """Who is alone in the table of the audit, and what would hide them."""
    everything = GroupSizes(48842, 47100, 46020, 1, 48840, 1, 46100, 120.0)
    known = GroupSizes(48842, 150, 3, 1, 40, 2, 0, 4.2)
    return PeopleFound(
        sets=(
            FoundBy("all released columns", ("zip", "age", "sex", "job"), everything),
            FoundBy("what may be known", ("age", "sex"), known),
        ),
        cures=(
            Cure({"zip": "prefix:3"}, {"zip": "prefix:3"}, 12345, 1),
            Cure({"age": 10}, {"zip": "prefix:3", "age": 10}, 0, 4),
        ),
        least=10,
        headline="Of 48,842 people, 46,020 have a combination of the released columns that nobody else has.",
    )


def ladder() -> Ladder:
    """Three epsilons, the second of which is suggested."""
    before = (("13001", "nurse", "34", "f"), ("20000", "clerk", "", "m"))
    columns = ("zip", "job", "age", "sex")

    def rung(epsilon: float, kept: float, guessed: float, rows: tuple[tuple[str, ...], ...]) -> ReleaseRung:
        each = tuple((name, kept) for name in columns)
        return ReleaseRung(epsilon, 0.97 * epsilon, kept, each, 0.0, guessed, int(100 * kept), 12, rows)

    rungs = (
        rung(0.1, 0.31, 0.0, (("any", "any", "any", "f"), ("any", "any", "any", "m"))),
        rung(0.5, 0.76, 4.2, (("13*", "nurse", "30 to 39", "f"), ("any", "clerk", "any", "m"))),
        rung(2.0, 0.92, 31.0, (("130*", "nurse", "34", "f"), ("20*", "clerk", "missing", "m"))),
    )
    original = ReleaseRung(INF, INF, 1.0, tuple((name, 1.0) for name in columns), 412.0, 96.0, 9_000, 1, before)
    return Ladder(columns, before, original, rungs, 12_000, None, True, 604.0, 0.25, 0.5)


def no_rungs() -> Ladder:
    """A sample in which the secret does not vary."""
    return replace(ladder(), rungs=(), epsilon=None, sampled=500, whole=False)


def leave_out_suggestions(patch: pytest.MonkeyPatch) -> None:
    """An audit then tries no release, learns nothing by itself and shuffles little."""
    from tacit.lenses.table.ladder import suggesting
    from tacit.lenses.table.learned import quick
    from tacit.lift import shuffles

    patch.setattr(suggesting, "ladder", lambda *_, **__: no_rungs())
    patch.setattr(quick, "AFFORDABLE", 0)
    patch.setattr(shuffles, "shuffles_for", lambda _: many(39, 199))


def audit_result() -> AuditResult:
    """An audit of a census-like table that leaks."""
    return AuditResult(
        source=SourceFacts("people.parquet", "parquet", 48842, 48842.0, SHA),
        columns=(
            ColumnRole("race", "secret", 5),
            ColumnRole("zip", "released", 412),
            ColumnRole("age", "released", 8, ("17–19", "20–29", "30–39", "40–49")),
            ColumnRole("sex", "released", 2),
            ColumnRole("job", "released", 14),
            ColumnRole("id", "dropped", 48842),
        ),
        secrets=(
            SecretValue("White", 41762.0, 0.855),
            SecretValue("Black", 4685.0, 0.0961),
            SecretValue("Asian-Pac-Islander", 1519.0, 0.0311),
            SecretValue("Amer-Indian-Eskimo", 470.0, 0.0096),
            SecretValue("Other", 406.0, 0.0083),
        ),
        n_values=9312,
        verdict="leak",
        headline=sentence(
            "The released columns give race away: {leak} on average, eight times what chance gives.",
            leak=Nats(0.1123, 3),
        ),
        measures=measure_findings(),
        shuffles=999,
        risk_histogram=BEFORE,
        safe_shares=(
            SafeShare(0.1, 0.121, 0.034, 0.133),
            SafeShare(0.5, 0.502, 0.231, 0.561),
            SafeShare(1.0, 0.721, 0.402, 0.846),
            SafeShare(2.0, 0.931, 0.511, 0.9996),
        ),
        riskiest=risky_values(),
        column_leaks=(
            ColumnLeak("zip", 0.0712, 0.0071, "leak", 0.0541, 0.0098, 0.0402, 0.881),
            ColumnLeak("job", 0.0311, 0.0011, "leak", 0.0122, 0.0061, 0.0991, 0.762),
            ColumnLeak("age", 0.0009, 0.0008, "cannot tell", 0.0017, 0.0049, 0.1094, 0.731),
            ColumnLeak("sex", 0.00004, 0.0002, "no leak detected", 0.0003, 0.0021, 0.1118, 0.724),
        ),
        curve=CURVE,
        ladder=ladder(),
        suggestion=Suggestion(
            0.25,
            0.5,
            0.76,
            sentence(
                "Epsilon {epsilon} is the smallest that loses no more than 25% of the information (it loses 24%).",
                epsilon=Nats(0.5, 6),
            ),
            sentence("{}", Command("protect", "people.parquet", secret=["disease"], epsilon=0.5, out="release")),
        ),
        notes=("12 records without a value in job were counted as a value of their own.",),
        found=people_found(),
        random_state=0,
        tacit_version="0.1.0",
        scores_path="private/scores.parquet",
    )


def certificate() -> CountedCertificate:
    """A claim that holds."""
    return CountedCertificate(
        claim="No record of this release moves the odds of any value of race by more than 0.5 nats, either way.",
        epsilon=0.5,
        epsilon_low=0.5,
        epsilon_high=0.5,
        delta=0.0,
        delta_kind="mass",
        epsilon_max=INF,
        secret=("race",),
        released=("zip", "age", "sex", "job"),
        holds=True,
        attained_epsilon=0.46,
        attained_delta=0.0,
        breach_share=0.0,
        mechanism=CountedMechanism(
            name="watchdog",
            replacement="merge",
            method="exact",
            weight=None,
            values=9312,
            values_merged=2151,
            records_merged=0.216,
        ),
        assumptions=(
            "The table is the population: its shares are the probabilities.",
            "The adversary sees this release alone, once.",
        ),
        measures=(
            MeasureChange("mutual_information", "Mutual information", 0.1123, 0.0311, 0.1225),
            MeasureChange("maximal_leakage", "Maximal leakage", 0.8341, 0.2011, 0.5),
            MeasureChange("max_risk", "Largest risk", INF, 0.46, 0.5),
            MeasureChange("chi_squared", "Chi-squared information", 0.33, 0.07, None, "1"),
        ),
        utility=Utility(2.21, 2.91, 0.24, 0.784, 0.861, 0.012),
        cuts=(Cut("age", (20, 30, 40)),),
        left_out=("id",),
        input=CertifiedInput("people.parquet", "parquet", 48842, SHA),
        output=CertifiedOutput("data.parquet", 48842, SHA[::-1]),
        readings=(Reading("population", "It is exact.", 1.0), Reading("sample", "Nothing is proved.", None)),
        file=WholeFile(least=10, smallest=12, values_below=0, people_below=0, holds=True),
        randomness="system",
        tacit_version="0.1.0",
    )


def protect_result() -> ProtectResult:
    """A release whose claim holds."""
    return ProtectResult(
        out="/home/owner/release",
        data_file="data.parquet",
        certificate=certificate(),
        headline="Every record is within 0.46 nats; 24% of the information was given up for it.",
        diagnosis="zip 7255 made most values risky.",
        curve=CURVE,
        before=BEFORE,
        after=AFTER,
        notes=("The merged values are listed in private/merged.parquet.",),
    )


def verify_result() -> VerifyResult:
    """A release whose claim is broken by one check, with one not checked."""
    return VerifyResult(
        release="release/",
        against="people.parquet",
        verdict="broken",
        headline="The claim is broken: the largest log-lift of the release is 0.71 nats, the claim says 0.5 nats.",
        checks=(
            Check("certificate can be read", True, "format 2, Tacit 0.1.0"),
            Check("data is the data that was certified", True, f"SHA-256 {SHA}"),
            Check(
                "largest log-lift within epsilon", False, "0.71 nats in the joint of race and release, claim 0.5 nats"
            ),
            Check("randomness", None, "the key of a release is never stored, so its draws cannot be redone"),
        ),
    )


def check_result() -> CheckResult:
    """A table that does not keep a policy, and a release that does."""
    told = sentence("{told}, where {may} is allowed", told=Nats(0.71, 4), may=Nats(0.5, 6))
    table = (
        PolicyCheck("epsilon of race", False, told, "epsilon"),
        PolicyCheck("people who share a value", True, "12 at least, 10 required", "least"),
        PolicyCheck("level of confidence", None, "a plain table proves nothing", "confidence"),
    )
    release = (PolicyCheck("epsilon of race", True, "0.46 nats, where 0.5 nats is allowed", "epsilon"),)
    sources = (
        CheckedSource("people.parquet", "table", table),
        CheckedSource("release", "release", release, ("Noted.",)),
    )
    return CheckResult.of("tacit.toml", sources)


def attack_result() -> AttackResult:
    """Three adversaries, none of whom beats the promise."""
    return AttackResult(
        release="release/",
        against="people.parquet",
        trained_on=34189,
        tested_on=14653,
        prior_guess=0.41,
        best_before=0.78,
        best_after=0.47,
        gain_before=0.37,
        gain_after=0.06,
        guessing_bound=0.676,
        optimal_before=0.83,
        optimal_after=0.49,
        adversaries=(
            AdversaryScore("counts", 0.78, (0.773, 0.787), 0.43, (0.422, 0.438), 0.47, (0.462, 0.478)),
            AdversaryScore("logistic regression", 0.66, (0.652, 0.668), 0.42, (0.412, 0.428), 0.45, (0.442, 0.458)),
            AdversaryScore("boosted trees", 0.75, (0.743, 0.757), 0.42, (0.412, 0.428), 0.46, (0.452, 0.468)),
        ),
        verdict="within the promise",
        headline="The best adversary guessed 78% before and 47% after; the promise allows 67.6%, the prior gives 41%.",
        notes=("Trained and tested on different records.",),
        linkage=(
            LinkageFinding(
                known=("age", "sex"),
                people=5000,
                learned_from=43842,
                prior_guess=0.41,
                knowing=0.43,
                before=LinkageScore(0.02, 1.0, 310.5, 0.0, 0.61),
                after=LinkageScore(0.0, None, 2210.0, 0.0, 0.44),
                columns=(ColumnRead("job", 0.2, 0.5, 0.21, 0.0, None),),
            ),
        ),
    )


def learned_findings() -> LearnedFindings:
    """A blend of two learners, a secret that nobody of one group has, a value that may be anything."""
    return LearnedFindings(
        estimator="auto",
        reason="a blend of boosted trees (0.60) and small neural nets (0.40)",
        candidates=(
            LearnedCandidate("trees", "boosted trees", 0.5312, 0.6),
            LearnedCandidate("net", "small neural nets", 0.5391, 0.4),
        ),
        prior_log_loss=0.6201,
        trained_on=48842,
        n_values=31877,
        information=Estimate(0.0871, 0.0811, 0.0931, "estimate"),
        null_high=0.0013,
        p_value=0.004,
        verdict="leak",
        largest_risk=2.31,
        risk_histogram=replace(AFTER, quantiles={"50%": 0.11, "100%": 2.4}),
        safe_shares=(LearnedSafeShare(0.1, 0.31, 0.02), LearnedSafeShare(1.0, 0.93, 0.81)),
        calibration=(
            CalibrationPoint(-1.9, -INF, -INF, -0.7, 80, "White"),
            CalibrationPoint(-0.4, -0.31, -0.52, -0.12, 80, "White"),
            CalibrationPoint(0.1, 0.08, 0.01, 0.15, 80, "White"),
            CalibrationPoint(-0.6, -0.45, -0.9, -0.1, 80, "Black"),
            CalibrationPoint(0.7, 0.66, 0.4, 0.9, 80, "Black"),
        ),
        riskiest=(
            LearnedRiskyValue(
                {"zip": "7255", "age": 34.5, "sex": None},
                1.0,
                "Black",
                0.0961,
                0.969,
                2.31,
                1.4,
                2.34,
                2.31,
                (("zip", 1.9), ("age", 0.31), ("sex", -0.02)),
                "zip",
                "Black is estimated to be 10 times as common here as overall; most of it comes from zip = 7255",
            ),
        ),
        notes=("learned from 48,842 of 200,000 records, drawn at random; all others were scored",),
        model_path="private/model.tacit",
    )


def learned_audit_result() -> AuditResult:
    """An audit with learned findings beside the counted ones."""
    headline = "The released columns, uncut, give away about 14.0% of the uncertainty about race (estimate by auto)."
    return replace(audit_result(), headline=headline, learned=learned_findings())
