"""What an adversary did to the rebuilt house: edited and linked releases, papers that say a thing twice, settings."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tacit
from papers import write_paper
from sizes import few
from tacit.errors import ArgumentError, SourceError
from tacit.requests import Bound, Look, Question

Run = Callable[..., tuple[int, str, str]]


@pytest.fixture(scope="module")
def people(tmp_path_factory: pytest.TempPathFactory) -> Path:
    rng = np.random.default_rng(1)
    race = rng.choice(["a", "b"], 300)
    ward = np.where(rng.random(300) < 0.4, race, rng.choice(["x", "y"], 300))
    path = tmp_path_factory.mktemp("house") / "people.csv"
    path.write_text("race,ward\n" + "".join(f"{r},{w}\n" for r, w in zip(race, ward, strict=True)))
    return path


@pytest.fixture
def release(people: Path, tmp_path: Path) -> Path:
    tacit.protect(
        people, secret="race", epsilon=0.3, mechanism="watchdog", replacement="merge", out=tmp_path / "release"
    )
    return tmp_path / "release"


def again(people: Path, release: Path) -> None:
    tacit.protect(people, secret="race", epsilon=0.5, out=release, overwrite=True)


def test_a_certificate_that_says_a_thing_twice_is_refused(people: Path, release: Path) -> None:
    paper = release / "certificate.json"
    paper.write_text(
        paper.read_text().replace("{", '{"claim": "It says nothing about anybody.", "epsilon": 0.0001,', 1)
    )
    with pytest.raises(SourceError, match="claim occurs twice"):
        tacit.verify(release, against=people)
    with pytest.raises(ArgumentError, match="occurs twice"):
        again(people, release)


def test_rules_that_say_a_thing_twice_are_refused(people: Path, release: Path, tmp_path: Path) -> None:
    rules = tmp_path / "rules.json"
    rules.write_text((release / "private" / "rules.json").read_text().replace("{", '{"secret": ["x"],', 1))
    with pytest.raises(SourceError, match="secret occurs twice"):
        tacit.protect(people, rules=rules, out=tmp_path / "next")


@pytest.mark.parametrize("name", ["data.csv", "report.html"])
def test_a_release_whose_files_were_edited_is_not_replaced(people: Path, release: Path, name: str) -> None:
    (release / name).write_text("my own precious data\n")
    with pytest.raises(ArgumentError, match=f"{name} is not the"):
        again(people, release)
    assert (release / name).read_text() == "my own precious data\n"


def test_a_file_that_a_changed_certificate_names_is_not_deleted(people: Path, release: Path) -> None:
    paper = release / "certificate.json"
    (release / "data.csv").unlink()
    (release / "thesis.txt").write_text("ten years of work")
    paper.write_text(paper.read_text().replace('"data.csv"', '"thesis.txt"'))
    with pytest.raises(ArgumentError, match=r"thesis\.txt is not the data that was certified"):
        again(people, release)
    assert (release / "thesis.txt").exists()


def test_behind_a_link_the_release_itself_is_replaced_and_nothing_is_left_behind(people: Path, release: Path) -> None:
    link = release.with_name("link")
    link.symlink_to(release.name)
    again(people, link)
    assert link.is_symlink()
    assert json.loads((release / "certificate.json").read_text())["epsilon"] == 0.5
    assert sorted(os.listdir(release.parent)) == ["link", "release"]


def test_a_page_in_bits_has_no_nats(people: Path, tmp_path: Path, tacit_command: Run) -> None:
    page = tmp_path / "bits.html"
    code, _, _ = tacit_command("audit", str(people), "--secret", "race", "--bits", "--report", str(page))
    assert code == 0
    text = page.read_text("utf-8")
    assert "bits" in text
    assert " nats" not in text


@pytest.mark.parametrize(
    "changed",
    few(
        [
            lambda paper: paper | {"kind": ["counted"]},
            lambda paper: paper | {"kind": {"a": 1}},
            lambda paper: paper | {"attained_epsilon": "inf"},
            lambda paper: paper | {"attained_epsilon": 1e308},
            lambda paper: paper | {"also": [{"secret": ["ward"], "epsilon": -1.5, "attained_epsilon": 0.1}]},
            lambda paper: paper | {"also": [{"secret": ["ward"], "epsilon": 1e308, "attained_epsilon": 0.1}]},
        ],
        3,
    ),
)
def test_a_damaged_certificate_is_refused_in_one_line(
    people: Path, release: Path, changed: Any, tacit_command: Run
) -> None:
    paper = release / "certificate.json"
    write_paper(paper, changed(json.loads(paper.read_text())))
    code, out, err = tacit_command("verify", str(release), "--against", str(people))
    assert (code, out) == (3, "")
    assert "damaged or not a certificate" in err


@pytest.mark.parametrize("text", ["[" * 100_000 + "]" * 100_000, '{"epsilon_max": Infinity}'])
def test_what_is_no_json_is_no_certificate(people: Path, release: Path, text: str) -> None:
    (release / "certificate.json").write_text(text)
    with pytest.raises(SourceError, match="it is not JSON"):
        tacit.verify(release, against=people)


@pytest.mark.parametrize(
    "make",
    [
        lambda: Look(shuffles=float("inf")),
        lambda: Look(shuffles=10**400),
        lambda: Look(shuffles=10**18),
        lambda: Question("p.csv", secret=5),
        lambda: Question("p.csv", secret=True),
        lambda: Question("p.csv", secret="a", released=()),
        lambda: Question("p.csv", secret="a", drop=[]),
        lambda: Question("p.csv", secret="a", bins={"w": [10**400]}),
        lambda: Question("p.csv", secret="a", bins={"w": "12"}),
        lambda: Bound(epsilon=0.1, epsilon_max=10**400, delta=0.1),
    ],
)
def test_settings_that_cannot_be_are_refused_by_name(make: Any) -> None:
    with pytest.raises(ArgumentError, match="cannot be used"):
        make()


def test_numbers_of_numpy_are_numbers() -> None:
    assert Look(shuffles=np.int64(19), epsilon=np.float32(0.5)).shuffles == 19


def test_an_empty_list_of_columns_is_not_all_columns(people: Path, tacit_command: Run) -> None:
    code, _, err = tacit_command("audit", str(people), "--secret", "race", "--released", "")
    assert code == 2
    assert "--released" in err


@pytest.mark.parametrize("name", ["people.csv", "shop.csv"])
def test_a_population_does_not_write_over_what_it_reads(name: str, tmp_path: Path, tacit_command: Run) -> None:
    tacit_command("person", "init", str(tmp_path / "case"))
    table = tmp_path / "case" / name
    before = table.read_bytes()
    code, _, err = tacit_command("person", "population", str(tmp_path / "case" / "case.yaml"), "-o", str(table))
    assert code == 2
    assert "is the table itself" in err
    assert table.read_bytes() == before


def test_a_result_in_a_notebook_is_plain_text(people: Path) -> None:
    assert type(tacit.audit(people, secret="race")._repr_html_()) is str
