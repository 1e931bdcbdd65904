"""Sources that are folders, patterns, partitions or addresses: one table each, whoever reads it."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import yaml

from sizes import few
from tacit.errors import DataError, SourceError, TacitError
from tacit.loading import fenced, file_sha256
from tacit.person import PersonAuditResult, person_audit, person_population, read_case
from tacit.person.inquiry.spread import reading as spread
from tacit.person.link import wide
from tacit.person.link.distributed import rows
from test_person_agreement import oddly, somebody

Row = dict[str, str | None]
RULES = [["email"], ["phone"], ["name", "dob"]]
JOINS = [{"name": "reads"}, {"name": "joins", "steps": ["normalise", {"resolve": {"rules": RULES}}]}]


def people(count: int = 40) -> tuple[dict[str, str], list[Row]]:
    """A person, and rows about them and others, by country."""
    chance = random.Random(11)
    some = [somebody(chance) for _ in range(8)]
    lines: list[Row] = [{**oddly(chance, one)} for one in [some[0], *chance.choices(some, k=count - 1)]]
    for at, line in enumerate(lines):
        line["country"] = "DE" if at < count // 2 else "US"
        line["number"] = f"n{at % 7}"
    return {**some[0], "country": "DE"}, lines


def as_csv(place: Path, lines: Sequence[Row], sign: str = ",", encoding: str = "utf-8") -> None:
    place.parent.mkdir(parents=True, exist_ok=True)
    written = [sign.join(lines[0]), *(sign.join(f'"{cell or ""}"' for cell in line.values()) for line in lines)]
    place.write_text("\n".join(written) + "\n", encoding=encoding)


def as_parquet(place: Path, lines: Sequence[Row]) -> None:
    place.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(pa.Table.from_pylist(list(lines)), place, row_group_size=7)


def csv_parts(folder: Path, lines: list[Row]) -> str:
    for at in range(3):
        as_csv(folder / "shop" / f"part-{at}.csv", lines[at * 14 : at * 14 + 14])
    (folder / "shop" / "_SUCCESS").write_text("")
    (folder / "shop" / "README.md").write_text("parts of one table")
    return "shop"


def parquet_parts(folder: Path, lines: list[Row]) -> str:
    for at in range(2):
        as_parquet(folder / "shop" / f"part-{at}.parquet", lines[at * 20 : at * 20 + 20])
    return "shop/"


def pattern(folder: Path, lines: list[Row]) -> str:
    for at in range(2):
        as_csv(folder / f"20{at}" / "shop.csv", lines[at * 20 : at * 20 + 20], ";")
    as_csv(folder / "200" / "other.csv", [{"name": "nobody"}])
    return "20*/shop.csv"


def partitions(folder: Path, lines: list[Row]) -> str:
    for country in ("DE", "US"):
        own = [{name: cell for name, cell in one.items() if name != "country"} for one in lines]
        here = [short for short, one in zip(own, lines, strict=True) if one["country"] == country]
        as_parquet(folder / "lake" / f"country={country}" / "part.parquet", here)
    return "lake"


def other_encodings(folder: Path, lines: list[Row]) -> str:
    as_csv(folder / "shop" / "0.csv", lines[:20])
    as_csv(folder / "shop" / "1.csv", lines[20:], encoding="utf-16")
    return "shop"


KINDS: list[Callable[[Path, list[Row]], str]] = [csv_parts, parquet_parts, pattern, partitions, other_encodings]


def case_of(folder: Path, *sources: dict[str, Any], **more: Any) -> Path:
    person, _ = people()
    case = {"country": "DE", "person": person, "labels": {"number": {"weight": 0}}, "adversaries": JOINS, **more}
    (folder / "case.yaml").write_text(yaml.safe_dump({**case, "sources": list(sources)}, allow_unicode=True))
    return folder / "case.yaml"


def shop(path: str, **more: Any) -> dict[str, Any]:
    return {"name": "shop", "path": path, **more}


def told(audit: PersonAuditResult, *, places: bool = True) -> dict[str, Any]:
    """What an audit says, apart from the seconds it took, and from where its sources are."""
    facts = audit.to_dict()
    for rung in facts["rungs"]:
        del rung["seconds"]
    if not places:
        facts["sources"] = [(one["name"], one["records"]) for one in facts["sources"]]
        facts["notes"] = [note for note in facts["notes"] if "UTF" not in note and "is read in place" not in note]
    return facts


@pytest.mark.parametrize("kind", KINDS)
def test_several_files_are_one_source_with_the_answer_of_one_file(
    tmp_path: Path, kind: Callable[[Path, list[Row]], str]
) -> None:
    _, lines = people()
    several = told(person_audit(case_of(tmp_path, shop(kind(tmp_path, lines), id="number"))), places=False)
    as_csv(tmp_path / "whole.csv", lines)
    assert several == told(person_audit(case_of(tmp_path, shop("whole.csv", id="number"))), places=False)
    assert several["sources"] == [("shop", 40)]
    assert several["rungs"][1]["best_recall"] > 0.5


@pytest.mark.spark
@pytest.mark.usefixtures("spark")
@pytest.mark.parametrize("kind", few(KINDS, 2))
def test_several_files_say_the_same_on_spark(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: Callable[[Path, list[Row]], str]
) -> None:
    _, lines = people()
    case = case_of(tmp_path, shop(kind(tmp_path, lines), id="number", confidence=0.9))
    monkeypatch.setattr(rows, "PART", 9)
    # Several files make one task.
    monkeypatch.setattr(spread, "TASKS", 1)
    assert told(person_audit(case, engine="spark")) == told(person_audit(case))


@pytest.mark.spark
@pytest.mark.usefixtures("spark")
def test_a_file_a_folder_and_an_address_may_be_sources_of_one_case(tmp_path: Path) -> None:
    _, lines = people(60)
    as_csv(tmp_path / "gym.csv", lines[:11])
    (tmp_path / "lists").mkdir()
    as_csv(tmp_path / "lists" / "a.csv", lines[11:19])
    as_csv(tmp_path / "lists" / "b.csv", lines[19:24])
    # Spark takes the largest file first.
    as_parquet(tmp_path / "lake" / "country=DE" / "part.parquet", lines[24:48])
    as_parquet(tmp_path / "lake" / "country=US" / "part.parquet", lines[48:])
    here = [{"name": "gym", "path": "gym.csv"}, {"name": "lists", "path": "lists"}]
    there = person_audit(case_of(tmp_path, *here, shop(f"file://{tmp_path}/lake")), engine="spark")
    assert told(there, places=False) == told(person_audit(case_of(tmp_path, *here, shop("lake"))), places=False)
    gym, lists, lake = there.sources
    assert gym.sha256 == file_sha256(tmp_path / "gym.csv")
    assert lists.sha256 is not None
    assert (lake.path, lake.sha256, lake.records) == (f"file://{tmp_path}/lake", None, 36)
    assert [note for note in there.notes if "source 'shop' is read in place" in note]


@pytest.mark.spark
@pytest.mark.usefixtures("spark")
def test_a_watched_audit_does_not_say_that_files_which_it_cannot_hash_were_rewritten(tmp_path: Path) -> None:
    _, lines = people()
    as_parquet(tmp_path / "lake" / "part.parquet", lines)
    case = case_of(tmp_path, shop(f"file://{tmp_path}/lake"), adversaries=[{"name": "reads"}])
    for _ in range(2):
        audit = person_audit(case, engine="spark", watch=True)
    assert audit.changes is not None
    assert not audit.changes.rewritten
    # The same records at a path of this machine have a hash, which is not compared with none.
    case_of(tmp_path, shop("lake"), adversaries=[{"name": "reads"}])
    audit = person_audit(case, watch=True)
    assert audit.changes is not None
    assert not audit.changes.rewritten
    as_parquet(tmp_path / "lake" / "part.parquet", lines[::-1])
    audit = person_audit(case, watch=True)
    assert audit.changes is not None
    assert audit.changes.rewritten == ("shop",)


def test_the_fingerprint_of_a_folder_is_that_of_what_sha256sum_prints(tmp_path: Path) -> None:
    _, lines = people()
    (source,) = person_audit(case_of(tmp_path, shop(csv_parts(tmp_path, lines)))).sources
    printed = "".join(f"{file_sha256(tmp_path / 'shop' / each)}  {each}\n" for each in part_names())
    (tmp_path / "printed").write_text(printed)
    assert source.sha256 == file_sha256(tmp_path / "printed")


def part_names() -> list[str]:
    return [f"part-{at}.csv" for at in range(3)]


def added(folder: Path, lines: list[Row]) -> None:
    as_csv(folder / "shop" / "part-3.csv", lines[:1])


def changed(folder: Path, lines: list[Row]) -> None:
    as_csv(folder / "shop" / "part-1.csv", lines[:13])


def renamed(folder: Path, lines: list[Row]) -> None:
    (folder / "shop" / "part-0.csv").rename(folder / "shop" / "part-9.csv")


@pytest.mark.parametrize("change", [added, changed, renamed])
def test_what_is_kept_of_a_folder_is_used_until_a_part_of_it_changes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, change: Callable[[Path, list[Row]], None]
) -> None:
    monkeypatch.setattr(wide, "MANY", 10)
    _, lines = people()
    case = case_of(tmp_path, shop(csv_parts(tmp_path, lines)))
    first = person_audit(case)
    # The seconds are those of the first time, so it was not asked again.
    assert person_audit(case) == first
    change(tmp_path, lines)
    after = person_audit(case)
    assert after.sources[0].sha256 != first.sources[0].sha256
    case.with_name("other.yaml").write_text(case.read_text())
    assert told(after) | {"case": ""} == told(person_audit(case.with_name("other.yaml"))) | {"case": ""}


def test_the_folder_of_a_case_is_no_pattern_whatever_it_is_called(tmp_path: Path) -> None:
    own = tmp_path / "b[1]"
    own.mkdir()
    as_csv(own / "shop.csv", [{"name": "Ana"}])
    # To a pattern, b[1] is b1.
    as_csv(tmp_path / "b1" / "shop.csv", [{"name": "Wrong"}] * 3)
    as_csv(tmp_path / "b1" / "other.csv", [{"name": "Wrong"}])
    reads = [{"name": "reads"}]
    for path in ("shop.csv", "*.csv", "."):
        (source,) = person_audit(case_of(own, shop(path), adversaries=reads)).sources
        assert source.records == 1
    with pytest.raises(DataError, match=r"no file 'other\.csv' for 'path' of source 'shop'"):
        read_case(case_of(own, shop("other.csv"), adversaries=reads))


@pytest.mark.spark
@pytest.mark.usefixtures("spark")
def test_facts_in_long_form_at_an_address_are_not_taken_for_records(tmp_path: Path) -> None:
    as_parquet(tmp_path / "lake" / "part.parquet", [{"record": "1", "label": "name", "value": "Ana"}])
    with pytest.raises(DataError, match="has a label and a value per row, which is read only at a path"):
        person_audit(case_of(tmp_path, shop(f"file://{tmp_path}/lake")), engine="spark")


def test_facts_in_long_form_may_be_in_several_files(tmp_path: Path) -> None:
    (tmp_path / "facts").mkdir()
    for at, label in enumerate(("name", "email")):
        facts = f"record,label,value\n1,{label},a@x.example\n2,{label},b@x.example\n"
        (tmp_path / "facts" / f"{at}.csv").write_text(facts)
    person = {"name": "a@x.example", "email": "a@x.example"}
    case = case_of(tmp_path, shop("facts"), person=person, adversaries=[{"name": "reads"}])
    audit = person_audit(case)
    assert [one.records for one in audit.sources] == [2]
    assert audit.rungs[0].best_recall == 1.0


def test_a_folder_of_other_files_is_refused_with_a_way_out(tmp_path: Path) -> None:
    (tmp_path / "cards").mkdir()
    header = "Given Name,Family Name,E-mail 1 - Value\n"
    (tmp_path / "cards" / "a.csv").write_text(f"{header}Ana,Li,a@x.example\n")
    with pytest.raises(DataError, match="is several files, which only a table may be: make each a source of its own"):
        read_case(case_of(tmp_path, shop("cards", format="contacts")))


REFUSED: dict[str, tuple[dict[str, list[Row]], str]] = {
    "nowhere": ({}, "no file 'nowhere' for 'path' of source 'shop'"),
    "nowhere/*.csv": ({}, r"no file is called .*nowhere/\*\.csv: check the pattern"),
    "empty": ({"empty/.hidden.csv": [{"name": "x"}]}, "empty holds no table: name a file, or a folder of"),
    "odd": ({"odd/a.csv": [{"name": "x"}], "odd/b.csv": [{"name": "x", "zip": "1"}]}, "b.csv has other columns"),
    "two": ({"two/a.csv": [{"name": "x"}], "two/b.parquet": [{"name": "x"}]}, "two holds files of several formats"),
}


@pytest.mark.parametrize("path", REFUSED)
def test_a_place_that_is_no_table_is_a_mistake_of_the_case_with_its_line(tmp_path: Path, path: str) -> None:
    files, why = REFUSED[path]
    for name, lines in files.items():
        (as_parquet if name.endswith(".parquet") else as_csv)(tmp_path / name, lines)
    with pytest.raises(DataError, match=rf"case.yaml, line \d+: .*{why}"):
        read_case(case_of(tmp_path, shop(path)))


def test_a_part_that_changes_after_the_case_was_read_is_refused(tmp_path: Path) -> None:
    _, lines = people()
    case = read_case(case_of(tmp_path, shop(csv_parts(tmp_path, lines))))
    as_csv(tmp_path / "shop" / "part-2.csv", [{"name": "Ana"}])
    with pytest.raises(DataError, match=r"part-2.csv has other columns"):
        person_audit(case)


def test_inside_a_fence_no_folder_and_no_address_leads_out(tmp_path: Path) -> None:
    inside = tmp_path / "inside"
    inside.mkdir()
    as_csv(tmp_path / "outside" / "a.csv", [{"name": "x"}])
    for path in ("../outside", "../outside/*.csv", "../nowhere", "s3://bucket/a.csv"):
        case = case_of(inside, shop(path))
        with pytest.raises(DataError, match="is outside the folder that may be read") as raised, fenced(inside):
            read_case(case, remote=True)
        assert "a.csv" not in str(raised.value).replace("s3://bucket/a.csv", "")


SECRETS = ["s3://KEY:s3cret@bucket/people.csv", "postgresql://me:s3cret@127.0.0.1:1/clinic/people"]
ON_SPARK = ["file://me:s3cret@host/lake", "s3a://KEY:s3cret@bucket/lake", "lake://me:s3/cret@host/x?k=s3cret"]


def test_nothing_elsewhere_is_read_unless_asked_for(tmp_path: Path, tacit_command: Any) -> None:
    code, _, said = tacit_command("person", "audit", str(case_of(tmp_path, shop(SECRETS[0]))))
    assert code == 3
    assert "s3://KEY@bucket/people.csv is remote" in said
    assert "add --remote" in said


@pytest.mark.spark
@pytest.mark.usefixtures("spark")
@pytest.mark.parametrize("address", few([*SECRETS, *ON_SPARK], 3))
def test_no_message_holds_the_password_of_an_address(tmp_path: Path, address: str) -> None:
    engine = "spark" if address in ON_SPARK else "duckdb"
    case = case_of(tmp_path, shop(address))
    for remote in (False, True):
        with pytest.raises(TacitError) as raised:
            person_audit(case, engine=engine, remote=remote and not address.startswith("s3:"))
        error: BaseException | None = raised.value
        while error is not None:
            assert "cret" not in str(error)
            error = error.__cause__


@pytest.mark.spark
@pytest.mark.usefixtures("spark")
def test_a_part_at_an_address_that_lacks_a_column_is_refused_and_not_read_as_missing(tmp_path: Path) -> None:
    as_parquet(tmp_path / "lake" / "a.parquet", [{"name": "Ana", "email": "a@x.example"}])
    as_parquet(tmp_path / "lake" / "b.parquet", [{"name": "Bob"}])
    with pytest.raises(DataError, match=r"b.parquet has other columns than .*a.parquet: give all parts the same"):
        person_audit(case_of(tmp_path, shop(f"file://{tmp_path}/lake")), engine="spark")
    (tmp_path / "none").mkdir()
    with pytest.raises(DataError, match=r"line \d+: source 'shop': Spark finds no Parquet at file://"):
        person_audit(case_of(tmp_path, shop(f"file://{tmp_path}/none")), engine="spark")
    with pytest.raises(DataError, match=r"Spark finds nothing at file://.*/nowhere: check the address"):
        person_audit(case_of(tmp_path, shop(f"file://{tmp_path}/nowhere")), engine="spark")
    with pytest.raises(DataError, match=r"file://.* is an address that Tacit cannot read: download it first"):
        person_audit(case_of(tmp_path, shop(f"file://{tmp_path}/lake")))


@pytest.mark.spark
@pytest.mark.usefixtures("spark")
def test_parts_with_other_types_are_named_as_such(tmp_path: Path) -> None:
    as_parquet(tmp_path / "lake" / "a.parquet", [{"name": "Ana", "zip": "10115"}] * 9)
    pq.write_table(pa.table({"name": ["Bob"], "zip": [10115]}), tmp_path / "lake" / "b.parquet")
    case = case_of(tmp_path, shop(f"file://{tmp_path}/lake"), adversaries=[{"name": "reads"}])
    with pytest.raises(DataError, match=r"the parts of file://.* have columns of the same name and other types"):
        person_audit(case, engine="spark")


def test_references_of_a_population_may_be_several_files(tmp_path: Path) -> None:
    _, lines = people()
    as_csv(tmp_path / "shop.csv", lines)
    for at in range(2):
        some = [{"who": f"{at} {place}", **one} for place, one in enumerate(lines[at * 20 : at * 20 + 20])]
        as_csv(tmp_path / "people" / f"{at}.csv", some)
    population = {"references": "people", "person": "who"}
    case = case_of(tmp_path, shop("shop.csv"), population=population)
    assert person_population(case).persons == 40
    with pytest.raises(TacitError, match="is the table itself"):
        person_population(case, out=tmp_path / "people" / "1.csv")


@pytest.mark.postgres
def test_a_table_of_a_server_may_be_a_source(tmp_path: Path, postgres: Any) -> None:
    _, lines = people()
    address = postgres.holding(pa.Table.from_pylist(lines))
    as_parquet(tmp_path / "shop.parquet", lines)
    there = person_audit(case_of(tmp_path, shop(address)))
    assert told(there, places=False) == told(person_audit(case_of(tmp_path, shop("shop.parquet"))), places=False)
    (source,) = there.sources
    assert source.sha256 is None
    assert "@" in address
    assert ":" not in source.path.removeprefix("postgresql://").partition("@")[0]


def test_a_case_does_not_show_the_password_of_an_address(tmp_path: Path) -> None:
    from dataclasses import replace

    from tacit.person.sources import Address

    as_csv(tmp_path / "shop.csv", [{"name": "x"}])
    case = read_case(case_of(tmp_path, shop("shop.csv"), adversaries=[{"name": "reads"}]))
    (source,) = case.sources
    elsewhere = replace(case, sources=(replace(source, path=Address(SECRETS[0])),))
    assert "s3cret" not in repr(elsewhere)
    with pytest.raises(SourceError, match=r"s3://KEY@bucket/people.csv is remote"):
        person_audit(elsewhere)
