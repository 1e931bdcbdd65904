"""Very many records are held by numbers and looked up; every answer is the one that looking at all of them gives."""

from __future__ import annotations

import csv
import gc
import random
import re
from pathlib import Path

import pytest

import tacit
from sizes import few, many
from tacit.person.answers import PersonAuditResult
from tacit.person.link import wide
from tacit.tables import memory_limit, store_on

VALUES = {
    "name": "Alice Archer|ARCHER, Alice|A. Archer|Dr. Alice Archer|Alice Acher|Alicé Archer|Al ice Archer|Archer|Alice|"
    "Bob Stone|Stone, Bob|Али́са Арчер|Al*|Alice Archer Smith|Xarchery Bo|N/A|Miss Alice|Maria Quorn|Alcie Archr",
    "email": "alice@gmail.com|Alice+x@googlemail.com|a.lice@gmail.com|alise@gmail.com|bob@y.example|ALICE@GMAIL.COM|"
    "alice@gmail.com; bob@y.example|unknown|al*@gmail.com",
    "phone": "+49 160 5550199|0160/5550199|tel:+49-160-5550199|5550199|0160 5550198|+49 160 5550199 ext. 7|"
    "0160 5550199 / 030 1234567|+1 415 555 2671|0160 5559919|030 1234567",
    "dob": "1984-03-12|12-MAR-1984|12.03.1984|03.12.1984|1984|1985-03-12|1984-03-21|[1980-1990]|1931-01-01|3/4/1990",
    "address": "Lindenstraße 12|Lindenstr. 12|12 linden street|Lindenstr. 12, 10115 Berlin, Germany, Europe, the Earth|"
    "Lindenstr. 21|Lindenweg 12|Hauptstr. 3|5 Main Street, Apt. 4|*",
}
CASE = """country: DE
person: {name: Alice Archer, email: alice@gmail.com, phone: +49 160 5550199, dob: 1984-03-12, address: Lindenstr. 12}
sources: [{name: shop, path: shop.csv, id: id}, {name: club, path: club.csv, confidence: {column: sure}}]
"""
RULES = """adversaries:
- {name: reads}
- {name: joins, steps: [{normalise: {}}, {resolve: {rules: [[email], [name, phone], [name, dob]]}}], merge: vote}
- {name: plain, steps: [{resolve: {rules: [[phone]]}}], keep_base: false}
"""


def write(folder: Path, seed: int, rules: str) -> Path:
    chance = random.Random(seed)
    for name, more in (("shop", "id"), ("club", "sure")):
        rows = [",".join([more, *VALUES])]
        for at in range(chance.randint(3, 40)):
            first = f"r{at}" if more == "id" else str(chance.choice([1, 0.5, 0]))
            cells = [chance.choice(["", *values.split("|")]) for values in VALUES.values()]
            rows.append(",".join([first, *(f'"{cell}"' for cell in cells)]))
        (folder / f"{name}.csv").write_text("\n".join(rows) + "\n", encoding="utf-8")
    (folder / "case.yaml").write_text(CASE + rules, encoding="utf-8")
    return folder / "case.yaml"


def told(audit: PersonAuditResult) -> object:
    """All that an audit says but how long it took; the last digits of likely pairs depend on the order of sums."""

    def rounded(said: object) -> object:
        if isinstance(said, dict):
            return {key: rounded(value) for key, value in said.items() if key != "seconds"}
        if isinstance(said, list | tuple):
            return [rounded(each) for each in said]
        return round(said, 9) if isinstance(said, float) else said

    return rounded(audit.to_dict())


@pytest.mark.parametrize("rules", few([RULES, ""]))
@pytest.mark.parametrize("seed", range(many(1, 60)))
def test_what_is_looked_up_is_what_looking_at_all_records_finds(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, seed: int, rules: str
) -> None:
    case = write(tmp_path, seed, rules)
    whole = told(tacit.person_audit(case, show_values=True))
    monkeypatch.setattr(wide, "MANY", 1)
    for by in ("made", "kept", "answered"):
        if by == "kept":
            (answer,) = (tmp_path / ".tacit" / case.name).glob("answer-*")
            answer.unlink()
        assert told(tacit.person_audit(case, show_values=True)) == whole
    assert (tmp_path / ".tacit").exists()


def test_an_audit_gives_back_the_memory_that_it_took_beside_the_tables(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    case = write(tmp_path, 3, RULES)
    monkeypatch.setattr(wide, "MANY", 1)
    limit = lambda: store_on("duckdb").ask("SELECT current_setting('memory_limit') AS shown").column("shown")[0].as_py()  # noqa: E731
    with memory_limit("777MiB"):
        tacit.person_audit(case)
        assert (tmp_path / ".tacit").exists()
        gc.collect()
        assert limit() == "777.0 MiB"


SHOP = "{name: shop, path: shop.csv, id: id}"
CLUB = "{name: club, path: club.csv, map: {address: null, email: null, sure: null}, column_confidence: {phone: 0.5}}"


@pytest.mark.parametrize("sources", [SHOP, f"{SHOP}, {CLUB}"], ids=["all labels", "all but the telephone"])
def test_a_label_whose_values_are_certain_needs_no_confidences(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, sources: str
) -> None:
    case = write(tmp_path, 5, RULES)
    (tmp_path / "case.yaml").write_text(re.sub("sources: .*", f"sources: [{sources}]", CASE) + RULES, encoding="utf-8")
    whole = told(tacit.person_audit(case, show_values=True))
    monkeypatch.setattr(wide, "MANY", 1)
    assert told(tacit.person_audit(case, show_values=True)) == whole


PEOPLE = """id,name,email,phone,dob,address
a,Alice Archer,alice@gmail.com,+49 160 5550199,1984-03-12,Lindenstr. 12
b,Bob Stone,bob@y.example,030 1234567,1931-01-01,Hauptstr. 3
c,Maria Quorn,,0160 5559919,,"5 Main Street, Apt. 4"
d,Zoë Nobody,zoe@z.example,,1999-09-09,Elsewhere 9
"""


@pytest.mark.long
@pytest.mark.parametrize("seed", range(many(1, 40)))
def test_a_population_is_the_same_with_forms_that_are_known(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, seed: int
) -> None:
    case = write(tmp_path, seed, RULES + "population: {references: people.csv, person: id, quasi_identifiers: [dob]}\n")
    (tmp_path / "people.csv").write_text(PEOPLE, encoding="utf-8")

    def rows() -> list[list[str | float]]:
        tacit.person_population(case, out=tmp_path / "rows.csv")
        cells = csv.reader((tmp_path / "rows.csv").read_text(encoding="utf-8").splitlines())
        return [[round(float(cell), 9) if re.match(r"-?\d", cell) else cell for cell in row] for row in cells]

    whole = rows()
    monkeypatch.setattr(wide, "MANY", 1)
    for _ in ("made", "kept"):
        assert rows() == whole
