"""Verify against a forger who has the release, its private part and the original: no tampered release holds."""

from __future__ import annotations

import copy
import hashlib
import json
import math
import shutil
from collections.abc import Callable, Iterator
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from papers import write_paper
from sizes import few, many
from tables_of_people import clinic, read_csv, write_csv
from tacit import TacitError, protect, verify
from tacit.release.certificate import NOT_MADE_AGAIN

VALUES, CELLS = ["age", "ward", "district"], ["age", "ward", "income"]
KINDS: dict[str, dict[str, Any]] = {
    "cells": {"released": CELLS},
    "means": {"released": CELLS, "write": "means"},
    "global": {"released": CELLS, "recode": "global"},
    "mix": {"released": CELLS, "mechanism": "cells+mix"},
    "confidence": {"released": CELLS, "confidence": 0.9, "epsilon": 1.0},
    "known": {"released": CELLS, "known": ["age"]},
    "several": {"released": CELLS, "also": {"smoker": 0.6}},
    "weight": {"released": CELLS, "weight": "w"},
    "resample": {"released": VALUES, "replacement": "resample"},
    "uniform": {"released": VALUES, "replacement": "uniform"},
    "merge": {"released": VALUES, "replacement": "merge"},
    "suppress": {"released": VALUES, "replacement": "suppress"},
    "subsets": {"released": VALUES, "mechanism": "subsets"},
    "optimal": {"released": VALUES, "mechanism": "optimal"},
    "delta": {"released": VALUES, "replacement": "merge", "delta": 0.05, "epsilon_max": 3.0},
}
FEW = ["cells", "optimal", "merge"]
kinds = pytest.mark.parametrize("kind", [*KINDS] if many(0, 1) else FEW)


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place, rng, n = tmp_path_factory.mktemp("forger"), np.random.default_rng(5), 300
    columns = clinic(n)
    columns["income"] = [str(value) for value in rng.integers(10, 60, n)]
    columns["smoker"] = rng.choice(["yes", "no"], n).tolist()
    columns["w"] = [str(value) for value in rng.integers(1, 4, n)]
    write_csv(place / "people.csv", columns)
    return place


@pytest.fixture
def forged(place: Path, tmp_path: Path) -> Callable[[str], Path]:
    """A copy of an honest release, to tamper with; each kind is made once."""

    def copied(kind: str) -> Path:
        if not (place / kind).exists():
            words = {"secret": "illness", "epsilon": 0.5, "least": 5, **KINDS[kind]}
            protect(place / "people.csv", out=place / kind, **words)
        shutil.rmtree(tmp_path / kind, ignore_errors=True)
        return Path(shutil.copytree(place / kind, tmp_path / kind))

    return copied


def paper_of(release: Path) -> dict[str, Any]:
    data: dict[str, Any] = json.loads((release / "certificate.json").read_text())
    return data


def certified_again(release: Path, **output: Any) -> Path:
    """Forge every fingerprint, so that only what it says can give a file away."""
    paper = paper_of(release)
    names = {
        "sha256": paper["output"]["file"],
        "report_sha256": "report.html",
        "levels_sha256": "levels.json",
        "channel_sha256": "channel.json",
    }
    for field, name in names.items():
        if (release / name).exists():
            paper["output"][field] = hashlib.sha256((release / name).read_bytes()).hexdigest()
    paper["output"].update(output)
    write_paper(release / "certificate.json", paper)
    return release


def verdict(release: Path, place: Path, source: str = "people.csv") -> str:
    """What verify says; what it cannot read is refused."""
    try:
        return verify(release, against=place / source).verdict
    except TacitError:
        return "refused"


# ---- rows ---------------------------------------------------------------------------------------------------------


def rows_of(release: Path) -> tuple[list[str], list[list[str]]]:
    columns = read_csv(release / "data.csv")
    return [*columns], [list(row) for row in zip(*columns.values(), strict=True)]


def rewritten(release: Path, names: list[str], rows: list[list[str]]) -> Path:
    write_csv(release / "data.csv", dict(zip(names, map(list, zip(*rows, strict=True)), strict=True)))
    return certified_again(release)


def by_secret(rows: list[list[str]], secrets: list[str]) -> list[list[str]]:
    """Everybody with asthma carries the first of the released rows: aliasing."""
    return [rows[0] if secret == "asthma" else row for row, secret in zip(rows, secrets, strict=True)]


def one_rare(rows: list[list[str]], secrets: list[str]) -> list[list[str]]:
    """One single record carries another allowed row, chosen by its secret."""
    at = secrets.index("asthma")
    other = next(row for row in rows if row != rows[at])
    return [other if k == at else row for k, row in enumerate(rows)]


def two_swapped(rows: list[list[str]], secrets: list[str]) -> list[list[str]]:
    """Two records with different secrets change places: all counts of released values stay."""
    one = secrets.index("asthma")
    other = next(k for k, s in enumerate(secrets) if s != "asthma" and rows[k] != rows[one])
    rows = [*rows]
    rows[one], rows[other] = rows[other], rows[one]
    return rows


def sorted_by_secret(rows: list[list[str]], secrets: list[str]) -> list[list[str]]:
    """The order of the rows tells the secret."""
    return [row for _, row in sorted(zip(secrets, rows, strict=True), key=lambda pair: pair[0])]


TAMPERS = [by_secret, one_rare, two_swapped, sorted_by_secret]
# Each way but the crudest on one kind; or all ways on all kinds.
BY_SECRET = [("merge", one_rare), ("optimal", two_swapped), ("cells", sorted_by_secret)]


@pytest.mark.parametrize(("kind", "tamper"), [*product(KINDS, TAMPERS)] if many(0, 1) else BY_SECRET)
def test_no_row_can_be_chosen_by_its_secret(
    place: Path, forged: Callable[[str], Path], kind: str, tamper: Callable[..., list[list[str]]]
) -> None:
    release = forged(kind)
    names, rows = rows_of(release)
    secrets = read_csv(place / "people.csv")["illness"]
    assert verdict(rewritten(release, names, tamper(rows, secrets)), place) == "broken"
    # Nor does it hold for whoever was not given the private part.
    shutil.rmtree(release / "private")
    assert verdict(release, place) != "holds"


@pytest.mark.parametrize("kind", ["mix", "resample", "optimal"][: many(1, 3)])
def test_draws_with_another_key_are_broken_whatever_is_forged_besides(
    place: Path, forged: Callable[[str], Path], tmp_path: Path, kind: str
) -> None:
    """The data, key and salt of a second release: a true draw, but not the one that was committed to."""
    release, again = forged(kind), tmp_path / "again"
    words = {"secret": "illness", "epsilon": 0.5, "least": 5, **KINDS[kind]}
    protect(place / "people.csv", out=again, **words)
    shutil.copy(again / "data.csv", release / "data.csv")
    certified_again(release)
    assert verdict(release, place) == "broken"
    shutil.copy(again / "private" / "key.txt", release / "private" / "key.txt")
    assert verdict(release, place) == "broken"
    shutil.copy(again / "private" / "salt.txt", release / "private" / "salt.txt")
    assert verdict(release, place) == "broken"


@kinds
def test_private_parts_of_another_release_are_not_taken(place: Path, forged: Callable[[str], Path], kind: str) -> None:
    release = forged(kind)
    stranger = forged("cells" if kind != "cells" else "merge")
    for name in ("salt.txt", "rules.json"):
        kept = (release / "private" / name).read_bytes()
        shutil.copy(stranger / "private" / name, release / "private" / name)
        assert verdict(release, place) != "holds"
        (release / "private" / name).write_bytes(kept)
    assert verdict(release, place) == "holds"


# ---- bytes --------------------------------------------------------------------------------------------------------

CSV: dict[str, Callable[[bytes], bytes]] = {
    "a space after a cell": lambda data: data.replace(b"\n", b" \n", 2),
    "quotes": lambda data: data.replace(b"general", b'"general"', 1),
    "a byte order mark": lambda data: b"\xef\xbb\xbf" + data,
    "line ends": lambda data: data.replace(b"\n", b"\r\n"),
    "one line end": lambda data: data.replace(b"\n", b"\r\n", 1),
    "trailing lines": lambda data: data + b"\n\n",
    "trailing bytes": lambda data: data + b"# HIV: 3, 17",
    "another delimiter": lambda data: data.replace(b",", b";"),
}


@pytest.mark.parametrize("how", few(CSV, 3))
def test_a_csv_says_nothing_between_its_cells(place: Path, forged: Callable[[str], Path], how: str) -> None:
    release = forged("merge")
    data = (release / "data.csv").read_bytes()
    changed = CSV[how](data)
    assert changed != data
    (release / "data.csv").write_bytes(changed)
    assert verdict(certified_again(release), place) != "holds"


JSONL: dict[str, Callable[[str], str]] = {
    "spaces": lambda text: text.replace(":", ": ", 1),
    "order of keys": lambda text: "\n".join([_reversed(text.splitlines()[0]), *text.splitlines()[1:]]) + "\n",
    "1.0 for 1": lambda text: text.replace(":1}", ":1.0}", 1),
    "escapes": lambda text: text.replace("general", "\\u0067eneral", 1),
    "an empty line": lambda text: text.replace("\n", "\n\n", 1),
    "a key more": lambda text: text.replace("{", '{"hiv":true,', 1),
    "null for nothing": lambda text: text.replace("}", ',"more":null}', 1),
}


def _reversed(line: str) -> str:
    return json.dumps(dict(reversed(json.loads(line).items())), separators=(",", ":"))


@pytest.fixture(scope="module")
def typed(place: Path) -> Path:
    """The table with a column of numbers, as JSONL and as Parquet, and a release of each."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    columns = clinic(300)
    columns["rooms"] = [1 + k % 2 for k in range(300)]
    pq.write_table(pa.table(columns), place / "people.parquet")
    rows = [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
    (place / "people.jsonl").write_text("".join(json.dumps(row, separators=(",", ":")) + "\n" for row in rows))
    for name in ("jsonl", "parquet"):
        words = {"secret": "illness", "released": ["ward", "rooms"], "epsilon": 0.9, "replacement": "merge"}
        protect(place / f"people.{name}", out=place / name, **words)
        assert verdict(place / name, place, f"people.{name}") == "holds"
    return place


@pytest.mark.parametrize("how", few(JSONL, 2))
def test_a_jsonl_says_nothing_between_its_cells(typed: Path, tmp_path: Path, how: str) -> None:
    release = Path(shutil.copytree(typed / "jsonl", tmp_path / "r"))
    text = (release / "data.jsonl").read_text()
    changed = JSONL[how](text)
    assert changed != text
    (release / "data.jsonl").write_text(changed)
    assert verdict(certified_again(release), typed, "people.jsonl") != "holds"


@pytest.mark.parametrize("how", few(["metadata", "row groups", "types", "a column more", "trailing bytes", "codec"], 3))
def test_a_parquet_says_nothing_but_its_cells(typed: Path, tmp_path: Path, how: str) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    release = Path(shutil.copytree(typed / "parquet", tmp_path / "r"))
    path, options = release / "data.parquet", {}
    table = pq.read_table(path)
    if how == "metadata":
        table = table.replace_schema_metadata({"hiv": "3, 17"})
    elif how == "row groups":
        options = {"row_group_size": 7}
    elif how == "types":
        table = table.set_column(table.column_names.index("rooms"), "rooms", table["rooms"].cast(pa.float64()))
    elif how == "a column more":
        table = table.append_column("hiv", pa.array([k == 3 for k in range(len(table))]))
    elif how == "codec":
        options = {"compression": "gzip"}
    if how == "trailing bytes":
        path.write_bytes(path.read_bytes()[:4] + b"HIV: 3" + path.read_bytes()[4:])
    else:
        pq.write_table(table, path, **options)
    assert verdict(certified_again(release), typed, "people.parquet") != "holds"


# ---- papers -------------------------------------------------------------------------------------------------------


def leaves(data: Any, at: tuple[Any, ...] = ()) -> Iterator[tuple[tuple[Any, ...], Any]]:
    parts = data.items() if isinstance(data, dict) else enumerate(data) if isinstance(data, list) else ()
    if not parts:
        yield at, data
    for key, value in parts:
        yield from leaves(value, (*at, key))


def others(value: Any) -> list[Any]:
    """Values of the same type, or of any where there was none."""
    if isinstance(value, bool):
        return [not value]
    if isinstance(value, int | float):
        return [value + 1, value * 0.9]
    if isinstance(value, str):
        return [value + "0", "x"]
    return [["x"]] if isinstance(value, list) else [0.5, 3, "x"]


def same(old: Any, new: Any) -> bool:
    """Whether verify, which forgives rounding, is to take one for the other: nine tenths of 1e-17 are 1e-17."""
    numbers = all(isinstance(each, int | float) and not isinstance(each, bool) for each in (old, new))
    return math.isclose(old, new, rel_tol=0, abs_tol=1e-12) if numbers else old == new


def with_leaf(data: Any, at: tuple[Any, ...], value: Any) -> Any:
    changed = copy.deepcopy(data)
    place = changed
    for key in at[:-1]:
        place = place[key]
    place[at[-1]] = value
    return changed


def tampered_leaves(release: Path, name: str, few: int) -> Iterator[str]:
    """Write the paper with one leaf changed, for each, or for a ``few`` of them; yields the name of the leaf."""
    path = release / name
    paper = json.loads(path.read_text())
    every = [(at, new) for at, old in leaves(paper) if at for new in others(old) if not same(old, new)]
    rng = np.random.default_rng(0)
    for at, new in every if many(0, 1) else [every[k] for k in rng.choice(len(every), few, replace=False)]:
        write_paper(path, with_leaf(paper, at, new))
        yield ".".join(map(str, at))
    write_paper(path, paper)


@kinds
def test_every_field_of_the_certificate_is_made_again_or_said_not_to_be(
    place: Path, forged: Callable[[str], Path], kind: str
) -> None:
    release = forged(kind)
    taken = verify(release, against=place / "people.csv").notes
    assert any(all(name in note for name in NOT_MADE_AGAIN) for note in taken)
    # What readers keep is measured again in a line of its own, or said not to be.
    free = (*NOT_MADE_AGAIN, "keeps")
    for field in tampered_leaves(release, "certificate.json", 2):
        assert field.startswith(free) or verdict(release, place) != "holds", field


@pytest.mark.parametrize(("kind", "name"), [("cells", "levels.json"), ("mix", "levels.json"), ("mix", "channel.json")])
def test_published_levels_and_channels_with_forged_fingerprints_do_not_hold(
    place: Path, forged: Callable[[str], Path], kind: str, name: str
) -> None:
    release = forged(kind)
    for field in tampered_leaves(release, name, 3):
        assert verdict(certified_again(release), place) != "holds", field


@pytest.mark.parametrize(("kind", "name"), [("cells", "levels.json"), ("optimal", "channel.json")])
def test_papers_say_nothing_between_their_words(
    place: Path, forged: Callable[[str], Path], kind: str, name: str
) -> None:
    release = forged(kind)
    text = (release / name).read_text()
    for changed in (text.replace(": ", ":", 1), text + " ", '{"format": 1, ' + text[1:]):
        (release / name).write_text(changed)
        assert verdict(certified_again(release), place) != "holds"
    (release / name).write_text(text)
    assert verdict(certified_again(release), place) == "holds"


@pytest.mark.parametrize("name", ["report.html", "levels.json"])
def test_a_paper_that_was_edited_is_not_the_one_certified(
    place: Path, forged: Callable[[str], Path], name: str
) -> None:
    release = forged("cells")
    (release / name).write_bytes((release / name).read_bytes() + b" ")
    assert verdict(release, place) == "broken"


def test_a_forged_report_is_said_not_to_be_made_again(place: Path, forged: Callable[[str], Path]) -> None:
    release = forged("cells")
    (release / "report.html").write_text("<h1>Nothing leaks</h1>")
    seen = verify(certified_again(release), against=place / "people.csv")
    assert any("report.html was compared with its fingerprint" in n and "not made again" in n for n in seen.notes)


def test_a_stranger_among_the_files_is_named(place: Path, forged: Callable[[str], Path]) -> None:
    release = forged("cells")
    (release / "hiv.txt").write_text("3, 17")
    assert verdict(release, place) != "holds"


def test_what_readers_keep_is_made_again(place: Path, forged: Callable[[str], Path]) -> None:
    release = forged("cells")
    paper = paper_of(release)
    paper["keeps"]["columns"][0]["kept"] = 0.99
    write_paper(release / "certificate.json", paper)
    assert verdict(release, place) != "holds"


def test_a_key_that_was_guessed_is_said_to_be_out_of_sight(place: Path, tmp_path: Path) -> None:
    """A random_state, and a certificate that hides it: the draw is that of the key, wherever the key is from."""
    words = {"secret": "illness", "epsilon": 0.5, "least": 5, **KINDS["resample"]}
    protect(place / "people.csv", out=tmp_path / "honest", **words)
    protect(place / "people.csv", out=tmp_path / "r", random_state=1, **words)
    paper = paper_of(tmp_path / "r")
    paper["randomness"] = paper_of(tmp_path / "honest")["randomness"]
    write_paper(tmp_path / "r" / "certificate.json", paper)
    seen = verify(tmp_path / "r", against=place / "people.csv")
    assert any("secure source" in note for note in seen.notes)
    assert "nobody can see whether the key is one of many" in paper["assumptions"][-1]
