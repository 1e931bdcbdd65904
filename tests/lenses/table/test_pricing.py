"""What each value of a secret costs, and that its values can be named."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from math import log
from pathlib import Path

import pyarrow as pa
import pytest

from hospital import hospital
from tables_of_people import clinic, write_csv
from tacit import AuditResult, audit

Run = Callable[..., tuple[int, str, str]]
COLUMNS = {name: values for name, values in hospital(3000).items() if name in ("illness", "sex", "ward")}

pytestmark = pytest.mark.usefixtures("without_suggestion")


@pytest.fixture
def audited() -> AuditResult:
    return audit(pa.table(COLUMNS), secret="illness", shuffles=19)


def test_a_secret_of_many_values_is_priced_value_by_value(audited: AuditResult) -> None:
    assert audited.prices is not None
    prices = {each.label: each for each in audited.prices.prices}
    assert set(prices) == set(COLUMNS["illness"])
    assert prices["O80"].prior == pytest.approx(Counter(COLUMNS["illness"])["O80"] / 3000)
    # Of childbirth and of cancer of the prostate the sex rules one out; of pneumonia it tells nothing much.
    assert "sex" in prices["O80"].forbids
    assert "sex" in prices["C61"].forbids
    assert prices["J18"].kept["sex"] == pytest.approx(1)
    assert prices["J18"].mean_kept > sum(audited.prices.together.values()) / 2
    assert [each.mean_kept for each in audited.prices.prices] == sorted(each.mean_kept for each in prices.values())


def test_the_largest_lift_of_a_value_is_counted_where_enough_people_are(audited: AuditResult) -> None:
    assert audited.prices is not None
    for price in audited.prices.prices:
        ill = Counter(COLUMNS["illness"])[price.label] / 3000
        lifts = {
            (column, value): log(share / ill)
            for column in ("sex", "ward")
            for value, n in Counter(COLUMNS[column]).items()
            if n >= audited.prices.least
            and (share := Counter(zip(COLUMNS[column], COLUMNS["illness"], strict=True))[value, price.label] / n)
        }
        assert (price.column, price.value) == max(lifts, key=lambda at: lifts[at])
        assert price.log_lift == pytest.approx(max(lifts.values()))


def test_a_released_value_that_few_have_is_not_named_in_a_price() -> None:
    columns = {"illness": [*COLUMNS["illness"], "O80"], "ward": [*COLUMNS["ward"], "the chapel"]}
    prices = audit(pa.table(columns), secret="illness", shuffles=19).prices
    assert prices is not None
    assert "the chapel" not in {each.value for each in prices.prices}


@pytest.mark.parametrize(
    "words",
    [{"secret": "illness"}, {"secret": ["illness", "district"]}, {"secret": {"illness": ["asthma"]}}],
    ids=["few values", "several columns", "values named"],
)
def test_a_secret_of_few_values_or_of_named_ones_has_no_price(words: dict) -> None:
    assert audit(pa.table(clinic(300)), shuffles=19, **words).prices is None


def test_a_secret_that_was_cut_from_numbers_has_no_price() -> None:
    columns = {"income": [i + 0.5 for i in range(300)], "ward": ["a", "b", "c"] * 100}
    result = audit(pa.table(columns), secret="income", shuffles=19)
    assert len(result.secrets) == 10
    assert result.prices is None


def test_the_audit_proposes_to_name_values_in_the_words_of_its_shell(tmp_path: Path, tacit_command: Run) -> None:
    path = str(write_csv(tmp_path / "stays.csv", COLUMNS))
    told = " ".join(tacit_command("audit", path, "--secret", "illness", "--shuffles", "19", "--full")[1].split())
    assert "What each value of the secret costs" in told
    assert "--secret illness=VALUE,VALUE" in told
    out = tacit_command("audit", path, "--secret", "illness", "--shuffles", "19", "--format", "json")[1]
    prices = json.loads(out)["prices"]
    assert {each["label"] for each in prices["prices"]} == set(COLUMNS["illness"])
