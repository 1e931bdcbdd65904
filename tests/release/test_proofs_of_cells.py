"""A confidence in cells: some records choose them, the others prove them, and whoever verifies proves them again."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from papers import write_paper
from sizes import few
from tables_of_people import clinic, write_csv
from tacit import NotCertifiedError, protect, verify


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("proved-cells")
    people = write_csv(place / "people.csv", clinic(4000))
    protect(people, secret="illness", epsilon=0.8, confidence=0.9, out=place / "release")
    return place


@pytest.fixture
def release(folder: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(folder / "release", tmp_path / "release"))


def failed(release: Path, folder: Path) -> set[str]:
    checked = verify(release, against=folder / "people.csv")
    return {check.name for check in checked.checks if check.passed is False}


def paper(release: Path) -> dict[str, Any]:
    return dict(json.loads((release / "certificate.json").read_text()))


def test_cells_are_proved_and_proved_again(folder: Path, release: Path) -> None:
    reading = paper(release)["readings"][1]
    proof = reading["proof"]
    assert reading["confidence"] == 0.9
    assert proof["kept"] > 1
    assert proof["records_to_choose"] + proof["records_to_prove"] == 4000
    assert 0 < proof["passed"] <= proof["candidates"]
    assert verify(release, against=folder / "people.csv").verdict == "holds"


def test_without_the_owners_part_the_proof_is_not_checked_and_nothing_holds(folder: Path, release: Path) -> None:
    shutil.rmtree(release / "private")
    checked = verify(release, against=folder / "people.csv")
    assert checked.verdict == "not checked"
    assert {check.name for check in checked.checks if check.passed is None} == {"proof from the records"}


@pytest.mark.parametrize("change", few([{"passed": 0}, {"candidates": 99}, {"records_to_prove": 1}], 2))
def test_an_edited_proof_is_found_out(folder: Path, release: Path, change: dict[str, int]) -> None:
    certificate = paper(release)
    certificate["readings"][1]["proof"] |= change
    write_paper(release / "certificate.json", certificate)
    assert "proof from the records" in failed(release, folder)


def test_a_release_of_finer_cells_cannot_borrow_the_proof(folder: Path, tmp_path: Path) -> None:
    people = folder / "people.csv"
    protect(people, secret="illness", epsilon=0.8, out=tmp_path / "finer")
    finer, proved = paper(tmp_path / "finer"), paper(folder / "release")
    assert finer["mechanism"]["values"] > proved["mechanism"]["values"]
    finer |= {"readings": [finer["readings"][0], proved["readings"][1]], "assumptions": proved["assumptions"]}
    write_paper(tmp_path / "finer" / "certificate.json", finer)
    own, other = (place / "private" / "rules.json" for place in (tmp_path / "finer", folder / "release"))
    kept = own.read_text()
    own.write_text(other.read_text())
    assert "rules belong to the certificate" in failed(tmp_path / "finer", folder)
    own.write_text(json.dumps({**json.loads(kept), "design": json.loads(other.read_text())["design"]}))
    assert "proof from the records" in failed(tmp_path / "finer", folder)


def test_too_few_records_prove_nothing_and_nothing_is_written(tmp_path: Path) -> None:
    people = write_csv(tmp_path / "few.csv", clinic(300))
    with pytest.raises(NotCertifiedError, match=r"300 records do not prove 0\.2 nats with 95\.0% confidence"):
        protect(people, secret="illness", epsilon=0.2, confidence=0.95, out=tmp_path / "r")
    assert not (tmp_path / "r").exists()
