"""A value that says less than another, and agrees with it, is for it and not against it."""

from __future__ import annotations

from pathlib import Path

import pytest

import tacit
from sizes import few
from tacit.person import Label, Labels, Record, Reference, is_suppressed, measure, merge, normaliser
from tacit.person.model.kinds import KINDS
from tacit.person.model.values import tells_something

LABELS = Labels({kind: form.label() for kind, (form, _) in KINDS.items()})


def merged_values(label: str, values: list[str], policy: str = "consensus") -> dict[str, float]:
    """The values of a label after each was said by a record of its own."""
    whole = merge([Record([(label, value)]) for value in values], policy, LABELS)
    return {attribute.value: attribute.confidence for attribute in whole}


@pytest.mark.parametrize(
    ("label", "coarse", "fine"),
    few(
        [
            ("dob", ["1963", "1963", "1963-02"], "1963-02-16"),
            ("dob", ["--0216", "1963-XX-XX", "16/02/1963", "Feb 1963"], "1963-02-16"),
            ("name", ["a archer", "archer", "alice archer"], "alice marie archer"),
            ("address", ["ambleford", "mill ln 12"], "mill ln 12 ambleford"),
            ("phone", ["01601234567", "***-4567"], "+491601234567"),
            ("email", ["a***@mail.example", "a****e@m***.example"], "alice@mail.example"),
            ("card", ["**** **** **** 1111", "ending in 1111"], "4111111111111111"),
        ],
        3,
    ),
)
@pytest.mark.parametrize("policy", ["consensus", "vote"])
def test_coarser_values_do_not_outvote_the_finer_one_they_agree_with(
    label: str, coarse: list[str], fine: str, policy: str
) -> None:
    formed = [LABELS[label].meant(value) if not is_suppressed(value) else value for value in coarse]
    assert merged_values(label, [*formed, fine], policy) == {fine: 1.0}


def test_a_coarser_value_is_for_each_finer_one_and_for_none_that_it_contradicts() -> None:
    assert merged_values("dob", ["1963", "1963-02-16", "1963-02-16", "1963-05-01", "1964-05-01"]) == {"1963-02-16": 1.0}
    # Three for 1964, and two for the other year.
    assert merged_values("dob", ["1964", "1964", "1964-05-01", "1963", "1963-02-16"]) == {"1964-05-01": 1.0}
    shares = merged_values("dob", ["1963", "1963-02-16", "1963-02-16", "1963-05-01"], "vote")
    assert shares == pytest.approx({"1963-02-16": 2 / 3, "1963-05-01": 1 / 3})


def test_a_coarser_value_keeps_the_confidence_it_has_beyond_the_finer_one() -> None:
    records = [Record([("dob", "1963", 0.9)]), Record([("dob", "1963-02-16", 0.4)])]
    for policy in ("consensus", "union"):
        kept = merge(records, policy, LABELS).confidences
        assert kept == pytest.approx({("dob", "1963"): 0.5, ("dob", "1963-02-16"): 0.4})


@pytest.mark.parametrize("policy", ["union", "consensus", "vote"])
def test_one_record_with_the_year_and_the_day_knows_the_day(policy: str) -> None:
    both = Record([("dob", "1984"), ("dob", "1984-03-12"), ("dob", "1985-03-12", 0.5), ("name", "Ana", 0.3)])
    kept = merge([both], policy, LABELS)
    assert kept.confidences == {("dob", "1984-03-12"): 1.0, ("dob", "1985-03-12"): 0.5, ("name", "Ana"): 0.3}
    assert merge([both], "diluted", LABELS) is both


def test_where_values_are_unrelated_merging_is_as_in_the_paper() -> None:
    assert merged_values("dob", ["1963-02-16", "1964-02-16", "1964-02-16"]) == {"1964-02-16": 1.0}
    assert set(merged_values("name", ["alice archer", "bob archer", "alice m archer"])) == {
        "bob archer",
        "alice m archer",
    }
    assert set(merged_values("name", ["alice archer", "archer"], "union")) == {"alice archer", "archer"}
    plain = Labels({"dob": Label(single=True)})
    years = [Record([("dob", value)]) for value in ("1963", "1963", "1963-02-16")]
    assert merge(years, "consensus", plain).confidences == {("dob", "1963"): 1.0}


def test_an_audit_knows_the_whole_day_though_more_records_have_only_the_year(tmp_path: Path) -> None:
    (tmp_path / "all.csv").write_text(
        "name,mail,born\nAlice Archer,a@x.example,1963\nA. Archer,a@x.example,1963\n,a@x.example,1963-02-16\n"
    )
    (tmp_path / "case.yaml").write_text(
        "person: {name: Alice Archer, email: a@x.example, dob: 1963-02-16}\nsources: [{name: all, path: all.csv}]\n"
    )
    audit = tacit.person_audit(tmp_path / "case.yaml")
    by_name = {rung.adversary: rung for rung in audit.rungs}
    assert by_name["E1"].leakage == pytest.approx(1.0)
    assert "says less" in by_name["E1"].does


@pytest.mark.parametrize(
    ("label", "pattern", "true", "other"),
    few(
        [
            ("phone", "***-***-0187", "+1 212 555 0187", "+1 212 555 0188"),
            ("phone", "••• ••• 0187", "+1 212 555 0187", "+1 212 555 0188"),
            ("phone", "ending in 87", "+1 212 555 0187", "+1 212 555 0178"),
            ("phone", "0171 *****67", "+49 171 1234567", "+49 172 1234567"),
            ("email", "j***@gmail.com", "john@gmail.com", "dave@gmail.com"),
            ("email", "j*****n@g****.com", "john@gmail.com", "john@hotmail.com"),
            ("email", "jo...@gmail.com", "john@gmail.com", "jim@gmail.com"),
            ("ssn", "XXX-XX-6789", "123-45-6789", "123-45-6780"),
            ("card", "4111 11** **** 1111", "4111 1111 1111 1111", "4222 1111 1111 1111"),
            ("card", "xxxx-xxxx-xxxx-1111", "4111 1111 1111 1111", "4111 1111 1111 1112"),
            ("dob", "**/**/1963", "1963-02-16", "1964-02-16"),
            ("dob", "1963-02-XX", "1963-02-16", "1963-03-16"),
            ("name", "J*** S****", "John Smith", "Jane Archer"),
        ],
        4,
    ),
)
def test_a_masked_value_covers_the_truth_and_no_other(label: str, pattern: str, true: str, other: str) -> None:
    for truth, wanted in ((true, 1.0), (other, 0.0)):
        assert measure(Record([(label, pattern)]), Reference([(label, truth)]), LABELS).recall == wanted


@pytest.mark.parametrize("pattern", ["***", "***-**-****", "XXX-XX-XXXX", "•••• ••••", "****@****"])
def test_a_mask_that_hides_everything_says_nothing(pattern: str) -> None:
    assert not tells_something(pattern)


@pytest.mark.parametrize(
    "value", ["Via XX Settembre 5", "Jamie Foxx", "Exxon", "XXL", "0 xx 11 98765-4321", "Alice..."]
)
def test_what_only_looks_like_a_mask_is_a_value(value: str) -> None:
    assert not is_suppressed(value)


def test_forms_have_parts_only_if_they_are_known() -> None:
    assert not Label(normalise=str.lower).has_parts
    assert Label(normalise=normaliser("date")).has_parts


def test_values_that_meet_again_in_another_cluster_are_not_compared_again() -> None:
    compared = []

    def noted(value: str) -> str:
        compared.append(value)
        return value

    label = Label(normalise=noted, single=True)
    records = [Record([("code", value)]) for value in ("11*", "1*5", "115", "117")]
    first = merge(records, "vote", {"code": label})
    once = len(compared)
    assert once > 0
    assert sorted(merge(records[::-1], "vote", {"code": label})) == sorted(first)
    assert merge(records[1:], "vote", {"code": label}) != first
    assert len(compared) == once
