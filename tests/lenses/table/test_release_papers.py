"""The papers of a counted release: every edit is found out, and a damaged field is told in one line."""

from __future__ import annotations

import hashlib
import json
import shutil
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from papers import write_paper
from sample_results import certificate
from sizes import few, many
from tables_of_people import clinic, write_csv
from tacit import SourceError, protect, verify
from tacit.release import assumptions_in_words


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    found = tmp_path_factory.mktemp("papers")
    people = write_csv(found / "people.csv", clinic(600))
    protect(people, secret="illness", released="ward", epsilon=0.8, mechanism="watchdog", out=found / "release")
    return found


@pytest.fixture
def release(folder: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(folder / "release", tmp_path / "release"))


def paper(release: Path) -> dict[str, Any]:
    return json.loads((release / "certificate.json").read_text())


def edit(release: Path, place: str, value: object) -> None:
    """Set the field at a dotted place, such as mechanism.weight; a number is a place in a list."""
    data = paper(release)
    *path, last = [int(key) if key.isdigit() else key for key in place.split(".")]
    within: Any = data
    for key in path:
        within = within[key]
    within[last] = value
    write_paper(release / "certificate.json", data)


def remove(release: Path, place: str) -> None:
    data = paper(release)
    *path, last = place.split(".")
    within: Any = data
    for key in path:
        within = within[key]
    del within[last]
    write_paper(release / "certificate.json", data)


def failed(release: Path, folder: Path) -> set[str]:
    return {check.name for check in verify(release, against=folder / "people.csv").checks if check.passed is False}


# What was edited


@pytest.mark.parametrize(
    ("place", "value", "line"),
    [
        ("measures.0.before", 0.0, "measures before and after"),
        ("measures.0.after", 0.5, "measures before and after"),
        ("assumptions", ["All records are guaranteed."], "assumptions"),
        ("randomness", "Drawn by God.", "randomness"),
        ("mechanism.records_merged", 0.9, "records merged"),
        ("output.report_sha256", "0" * 64, "report is the one certified"),
        ("mechanism.values_merged", 7, "what is kept and merged"),
        ("utility.rows_unchanged", 0.99, "what is kept and merged"),
        ("mechanism.values", 7, "what is kept and merged"),
        ("utility.cells_unchanged", 0.99, "what is kept and merged"),
        ("utility.mutual_information", 9.0, "what is kept and merged"),
        ("utility.entropy", 9.0, "what is kept and merged"),
    ][: many(8, 12)],
)
def test_an_edit_of_the_certificate_is_found_out(
    release: Path, folder: Path, place: str, value: object, line: str
) -> None:
    edit(release, place, value)
    assert line in failed(release, folder)


def test_an_edit_of_the_report_is_found_out(release: Path, folder: Path) -> None:
    page = release / "report.html"
    page.write_text(page.read_text().replace("at most", "far less than"))
    assert failed(release, folder) == {"report is the one certified"}


def test_papers_without_a_report_or_its_fingerprint_are_not_broken_but_told(release: Path, folder: Path) -> None:
    edit(release, "output.report_sha256", None)
    result = verify(release, against=folder / "people.csv")
    assert result.verdict == "not checked"
    assert "report is the one certified" in result.headline
    (release / "report.html").unlink()
    result = verify(release, against=folder / "people.csv")
    assert result.verdict == "holds"
    assert any("there is no report.html" in note for note in result.notes)


def test_without_the_owners_files_it_is_said_what_was_not_checked(release: Path, folder: Path) -> None:
    shutil.rmtree(release / "private")
    notes = " ".join(verify(release, against=folder / "people.csv").notes)
    assert "rows and cells unchanged were not checked" in notes


def test_the_report_is_certified_too(folder: Path, tmp_path: Path) -> None:
    made = protect(folder / "people.csv", secret="illness", released="ward", epsilon=0.8, out=tmp_path / "r")
    page = tmp_path / "r" / "report.html"
    assert made.certificate.output.report_sha256 == hashlib.sha256(page.read_bytes()).hexdigest()
    assert verify(tmp_path / "r", against=folder / "people.csv").verdict == "holds"
    edit(tmp_path / "r", "assumptions", [])
    edit(tmp_path / "r", "utility.rows_unchanged", 1.0)
    edit(tmp_path / "r", "mechanism.plain_watchdog_attains", 0.001)
    edit(tmp_path / "r", "measures", paper(tmp_path / "r")["measures"][1:])
    page.write_text("<p>Safe.")
    assert {
        "report is the one certified",
        "assumptions",
        "what is kept and merged",
        "measures before and after",
    } <= failed(tmp_path / "r", folder)


# What is missing


def places(data: Any, path: str = "") -> list[str]:
    if not isinstance(data, dict):
        return [path]
    inner = [place for key, value in data.items() for place in places(value, f"{path}.{key}" if path else key)]
    return ([path] if path else []) + inner


def test_a_certificate_of_another_format_is_refused_by_its_version(release: Path) -> None:
    for version in (1, 2, 99):
        edit(release, "format_version", version)
        with pytest.raises(SourceError, match=f"format_version is {version}: this Tacit reads certificates of format"):
            verify(release)


@pytest.mark.parametrize("value", ["nothing", "text", None, 1e308][: many(2, 4)])
def test_a_certificate_without_a_field_or_with_nonsense_in_it_is_damaged_or_broken_and_never_a_crash(
    release: Path, folder: Path, value: object
) -> None:
    whole = (release / "certificate.json").read_text()
    # The rows are compared elsewhere; here each field is read once.
    for place in places(json.loads(whole)):
        if value == "nothing":
            remove(release, place)
        else:
            edit(release, place, value)
        # Anything but one line about a damaged certificate, or a verdict, would be a crash.
        with suppress(SourceError):
            assert verify(release).verdict in ("not checked", "broken"), place
        (release / "certificate.json").write_text(whole)


@pytest.mark.parametrize(
    "place",
    few(["mechanism.records_merged", "attained_epsilon", "mechanism.replacement", "utility.nmil", "input.records"], 2),
)
def test_a_missing_field_is_called_damage(release: Path, folder: Path, place: str) -> None:
    remove(release, place)
    with pytest.raises(SourceError, match="damaged"):
        verify(release, against=folder / "people.csv")


def test_what_the_adversary_knows_is_said_among_the_assumptions() -> None:
    def row_by_row(known: tuple[str, ...]) -> str:
        texts = assumptions_in_words(replace(certificate(), known=known))
        return next(text for text in texts if text.startswith("Row by row"))

    assert "about the person it knows zip, age, as the release writes them; it knows nothing else" in row_by_row(
        ("zip", "age")
    )
    assert "about the person it knows" not in row_by_row(())
