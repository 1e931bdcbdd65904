"""Results about a person as a workflow would give them, small enough to read and with every kind of row in them."""

from __future__ import annotations

from dataclasses import replace

from tacit.person import (
    PersonAuditResult,
    PersonDecoyResult,
    PersonDipResult,
    PersonPopulationResult,
    PersonReleaseResult,
    PersonRemoveResult,
    PersonVerifyResult,
)
from tacit.person.answers.results import (
    Action,
    DecoyRecord,
    Dipped,
    Finding,
    Held,
    Join,
    Missing,
    PersonSource,
    PopulationRung,
    ReleaseOption,
    ReleasePlan,
    RemovalStep,
    Rung,
    SourceShare,
    Verification,
)

SOURCES = (
    PersonSource("shop", "shop.parquet", 1_204, "9f2c" * 16),
    PersonSource("broker", "broker.jsonl", 8_310, "01ab" * 16),
    PersonSource("breach 2019", "breaches.json", 14, None),
    PersonSource("voter roll", "voters.csv", 52_000, "77de" * 16),
)

RUNGS = (
    Rung("looks", "reads every record as it is", "union", 0.412, 0.95, 0.263, 0.263, 1.0, 0, 0.012, 61_528, 61_528, 1),
    Rung(
        "joins", "normalises; resolves by name and phone, or e-mail", "union",
        0.701, 0.742, 0.664, 0.664, 1.0, 25.0, 0.31, 61_528, 54_120, 5,
    ),
    Rung(
        "detective", "normalises; corrects towns; adds the zip of an address; resolves by four rules", "consensus",
        0.834, 0.881, 0.792, 0.81, 1.0, 400.0, 1.74, 61_528, 52_377, 7,
    ),
    Rung(
        "all clusters", "takes clusters from clusters.parquet", "vote",
        0.796, 0.84, 0.756, 0.81, 1.0, 1_250.0, 0.94, 61_528, 51_900, 9,
    ),
)  # fmt: skip

HELD = (
    Held("name", "A•••", "correct", 1.0, 1.0, 1.0, 0.061, ("shop", "broker", "voter roll")),
    Held("birth date", "1•••", "correct", 0.95, 2.0, 1.0, 0.128, ("voter roll",)),
    Held("card", "4•••", "correct", 0.9, 4.0, 1.0, 0.244, ("shop",)),
    Held("e-mail", "a•••", "correct", 1.0, 2.0, 1.0, 0.117, ("shop", "breach 2019")),
    Held("phone", "5•••", "correct", 0.6, 1.0, 1.0, 0.034, ("broker",)),
    Held("income", "•••", "near", 0.7, 1.0, 0.62, 0.009, ("broker",)),
    Held("zip", "1•••", "covered", 0.5, 1.0, 1.0, 0.021, ("broker",)),
    Held("phone", "0•••", "wrong", 0.8, 1.0, 0.0, -0.031, ("broker",)),
    Held("employer", "N•••", "wrong", 0.4, 1.0, 0.0, -0.014, ("broker",)),
)

MEMBERS = (
    "shop 17", "shop 230", "broker 3", "broker 88", "breach 2019 2", "breach 2019 9", "voter roll 40112",
)  # fmt: skip

JOINS = (
    Join("shop 17", "broker 3", ("name", "phone")),
    Join("shop 17", "shop 230", ("e-mail",)),
    Join("shop 17", "breach 2019 2", ("e-mail",)),
    Join("shop 230", "breach 2019 9", ("name", "card")),
    Join("broker 3", "broker 88", ("name", "phone")),
    Join("broker 88", "voter roll 40112", ("name", "birth date", "zip")),
)

FINDING = Finding(
    adversary="detective",
    leakage=0.834,
    held=HELD,
    missing=(Missing("passport", "C•••", 3.0), Missing("employer", "H•••", 1.0)),
    members=MEMBERS,
    joins=JOINS,
    bits=41.7,
)

SHARES = (
    SourceShare("shop", 1_204, 0.512, 0.322),
    SourceShare("voter roll", 52_000, 0.741, 0.093),
    SourceShare("breach 2019", 14, 0.834, 0.0),
    SourceShare("broker", 8_310, 0.861, -0.027),
)

ACTIONS = (
    Action("remove", "have 'shop' remove its records", 0.834, 0.512, 5.0, 0.5, "it alone has the card"),
    Action("change", "use another e-mail in each place instead of a•••", 0.834, 0.688, None, None, "it joins three"),
    Action("decoy", "plant 2 decoys", 0.834, 0.771, 4.0, None, "false phones enter the merged record"),
    Action("remove", "have 'broker' remove its records", 0.834, 0.861, 12.0, 0.48, "what is wrong in it misleads"),
)


def audit_result() -> PersonAuditResult:
    """Four sources, four adversaries, a limit that is passed."""
    return PersonAuditResult(
        case="alice.yaml",
        labels=("name", "birth date", "card", "e-mail", "phone", "zip", "income", "employer", "passport"),
        facts=11,
        sources=SOURCES,
        rungs=RUNGS,
        findings=tuple(
            replace(FINDING, adversary=rung.adversary, leakage=rung.leakage)
            if rung.adversary != "looks"
            else Finding("looks", 0.412, HELD[:3], (Missing("zip", "1•••", 1.0),), ("voter roll 40112",), (), None)
            for rung in RUNGS
        ),
        strongest="detective",
        source_shares=SHARES,
        actions=ACTIONS,
        fail_above=0.6,
        values_shown=False,
        headline="The detective can piece together 79% of the file, with 88% of what it says right.",
        notes=("The breach lists say which kinds of data were lost, not the values.",),
    )


def release_result() -> PersonReleaseResult:
    """Two releases with two and three options, under two adversaries."""
    before = {"joins": 0.701, "detective": 0.834}

    def option(slot: str, name: str, added: tuple[float, float], joins: tuple[str, ...]) -> ReleaseOption:
        gains = dict(zip(before, added, strict=True))
        after = {adversary: was + gains[adversary] for adversary, was in before.items()}
        return ReleaseOption(slot, name, ("name", "card"), after, gains, joins)

    return PersonReleaseResult(
        case="alice.yaml",
        before=before,
        options=(
            option("new shop", "old card", (0.0, 0.0), ("shop 17", "broker 3")),
            option("new shop", "new card", (0.081, 0.044), ("shop 17",)),
            option("new shop", "alias", (-0.012, -0.003), ()),
            option("newsletter", "work e-mail", (0.02, 0.011), ("shop 230",)),
            option("newsletter", "throw-away e-mail", (0.0, 0.0), ()),
        ),
        best=(
            ReleasePlan(
                "joins", {"new shop": "alias", "newsletter": "throw-away e-mail"}, 0.701, 0.689, 0.802, 6, "exact"
            ),
            ReleasePlan(
                "detective", {"new shop": "alias", "newsletter": "throw-away e-mail"},
                0.834, 0.831, 0.889, 6, "heuristic",
            ),
        ),
        fail_above=0.9,
        headline="An alias and a throw-away address add nothing.",
        notes=(),
    )  # fmt: skip


def dip_result() -> PersonDipResult:
    """Two queries under two adversaries."""
    small = replace(
        FINDING, adversary="joins", members=("query", "shop 17"), joins=(Join("query", "shop 17", ("e-mail",)),)
    )
    return PersonDipResult(
        case="alice.yaml",
        dips=(
            Dipped("by e-mail", "joins", 0.522, 0.9, 0.368, small),
            Dipped("by e-mail", "detective", 0.834, 0.881, 0.792, replace(FINDING, members=("query", *MEMBERS))),
            Dipped(
                "by name", "joins", 0.0, 0.0, 0.0,
                Finding("joins", 0.0, (), (Missing("name", "A•••", 1.0),), ("query",), (), None),
            ),
            Dipped("by name", "detective", 0.31, 1.0, 0.184, replace(small, adversary="detective", held=HELD[:2])),
        ),
        fail_above=None,
        values_shown=False,
        headline="The e-mail address brings up nearly everything.",
        notes=(),
    )  # fmt: skip


def remove_result() -> PersonRemoveResult:
    """Three requests within a budget."""
    return PersonRemoveResult(
        case="alice.yaml",
        adversary="detective",
        before=0.834,
        steps=(
            RemovalStep("shop", 1_204, 5.0, 0.5, 0.512, 0.673),
            RemovalStep("voter roll", 52_000, 8.0, 0.1, 0.377, 0.651),
            RemovalStep("breach 2019", 14, 1.0, 0.0, 0.377, 0.651),
        ),
        source_shares=SHARES,
        budget=15.0,
        searched="exact",
        fail_above=0.6,
        headline="Ask the shop first: if it complies, the leakage falls to 0.512.",
        notes=("Nothing is known of the broker's removals.",),
    )


def decoy_result() -> PersonDecoyResult:
    """Two decoys, of no use against the strongest adversary."""
    return PersonDecoyResult(
        case="alice.yaml",
        adversary="joins",
        records=(
            DecoyRecord("self", (("name", "A•••"), ("phone", "5•••")), (("card", "decoy 1"), ("zip", "decoy 2")), 3.0),
            DecoyRecord("linkage", (("e-mail", "a•••"),), (), 1.0),
        ),
        before={"looks": 0.412, "joins": 0.701, "detective": 0.834},
        predicted=0.533,
        after={"looks": 0.412, "joins": 0.533, "detective": 0.836},
        cost=4.0,
        budget=5.0,
        method="partition and dynamic programming",
        recommended=False,
        reasons=("Under the detective, which takes the commonest value, the leakage does not fall.",),
        fail_above=None,
        values_shown=False,
        headline="Decoys help against the joiner and not against the detective.",
        notes=(),
    )


def verify_result() -> PersonVerifyResult:
    """Four candidates, two of them within the budget, one free."""
    return PersonVerifyResult(
        case="alice.yaml",
        adversary="detective",
        certainty=0.561,
        certainty_after=0.742,
        candidates=(
            Verification("card", "4•••", "shop 17", 0.9, 0.1, 0.021, 0.21, True),
            Verification("phone", "5•••", "broker 3", 0.6, 0.4, 0.066, 0.165, True),
            Verification("zip", "1•••", "broker 3", 0.5, 0.5, 0.041, 0.082, False),
            Verification("name", "A•••", "shop 17", 1.0, 0.0, 0.0, 0.0, False),
        ),
        budget=0.5,
        spent=0.5,
        searched="exact",
        values_shown=False,
        headline="The card is worth most to verify.",
        notes=(),
    )


def population_result() -> PersonPopulationResult:
    """Twelve thousand persons under two adversaries."""
    low = (0, 0, 10, 80, 240, 610, 1_300, 2_100, 2_600, 2_200, 1_400, 800, 400, 160, 60, 25, 10, 4, 1, 0)
    high = (0, 0, 0, 5, 30, 90, 210, 480, 900, 1_500, 2_100, 2_400, 1_900, 1_200, 700, 300, 120, 45, 15, 5)
    return PersonPopulationResult(
        case="customers.yaml",
        persons=12_000,
        sources=SOURCES,
        rungs=(
            PopulationRung(
                "looks", "reads every record as it is",
                {"0%": 0.11, "50%": 0.42, "90%": 0.58, "99%": 0.71, "100%": 0.93},
                0.43, 0.31, 310, low, 0.0, 0.4, 61_528,
            ),
            PopulationRung(
                "detective", "normalises; resolves by four rules",
                {"0%": 0.17, "50%": 0.55, "90%": 0.71, "99%": 0.83, "100%": 0.98},
                0.56, 0.47, 4_105, high, 400.0, 6.2, 52_377,
            ),
        ),
        quasi_identifiers=("birth date", "zip"),
        k_quantiles={"0%": 1.0, "50%": 2.0, "90%": 7.0, "100%": 31.0},
        unique=3_990,
        sensitive=("employer",),
        l_quantiles={"0%": 1.0, "50%": 2.0, "90%": 5.0, "100%": 12.0},
        top_sources={"shop": 7_400, "voter roll": 3_100, "broker": 1_500},
        rows="rows.parquet",
        fail_above=0.6,
        headline="4,105 of 12,000 persons are above 0.6 under the detective.",
        notes=("Persons without any record have leakage 0.",),
    )  # fmt: skip


EVERY = {
    "audit": audit_result,
    "release": release_result,
    "dip": dip_result,
    "remove": remove_result,
    "decoy": decoy_result,
    "verify": verify_result,
    "population": population_result,
}
