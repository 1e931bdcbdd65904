"""What is damaged, and what is asked about it afterwards."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

Words = tuple[str, ...]
# Where a line of words begins with this, a reader is called alone: it is a hundred times cheaper than an answer.
READ = "read"


@dataclass(frozen=True)
class Target:
    """A file of a folder of good inputs, how it is made up, and the lines that read it, the last of them seldom."""

    box: str
    file: str
    form: str
    lines: tuple[Words, ...]
    weight: float = 1.0

    @property
    def name(self) -> str:
        """As results and the corpus call it."""
        return f"{self.box}/{self.file}"


def _table(box: str, file: str, form: str = "bytes", weight: float = 4.0) -> Target:
    asked = ("--secret", "illness", "--released", "age,ward", "--format", "json")
    return Target(
        box,
        file,
        form,
        (
            (READ, "table", file),
            (READ, "columns", file),
            ("audit", file, "--secret", "illness", "--released", "age", "--max-loss", "1", "--format", "json"),
            ("protect", file, *asked, "--epsilon", "0.5", "-o", "out"),
        ),
        weight,
    )


def _papers(box: str, *files: str, data: str = "p.csv") -> tuple[Target, ...]:
    """The papers of a release: of those of the owner much is asked only with the original."""
    alone, beside = ("verify", "r"), ("verify", "r", "--against", data)
    found = []
    for file in files:
        form = "json" if file.endswith(".json") else "zip" if file.endswith(".npz") else "lines"
        often = (READ, "certificate", "r") if file == "r/certificate.json" else alone
        found.append(Target(box, file, form, (often, alone, beside), 3.0 if form == "json" else 1.0))
    return tuple(found)


def _ledger(box: str) -> Target:
    protecting = ("protect", "p.csv", "--secret", "illness", "--released", "age", "--epsilon", "0.5", "--least", "5")
    with_it = (*protecting, "--ledger", "ledger.json", "-o", "out", "--format", "json")
    return Target(box, "ledger.json", "json", ((READ, "ledger", "ledger.json"), with_it), 3.0)


def _rules(box: str) -> Target:
    again = ("protect", "p.csv", "--rules", "r/private/rules.json", "-o", "out", "--format", "json")
    return Target(box, "r/private/rules.json", "json", (again,), 2.0)


def _person(box: str, file: str, form: str, *actions: str, reader: str | None = None, weight: float = 2.0) -> Target:
    lines = tuple(("person", action, "case.yaml", "--format", "json") for action in actions)
    return Target(box, file, form, (((READ, reader, "case.yaml"), *lines) if reader else lines), weight)


def _file(file: str, form: str = "lines") -> Target:
    """A file of a person's, in a case of its own."""
    case = f"{file}.yaml"
    return Target("files", file, form, ((READ, "pool", case), ("person", "audit", case, "--format", "json")))


_READING = ("--model", "m.tacit", "--format", "json")
TARGETS: tuple[Target, ...] = (
    _table("csv", "p.csv", "lines"),
    _table("tsv", "p.tsv", "lines", 1.0),
    _table("jsonl", "p.jsonl", "lines"),
    _table("parquet", "p.parquet"),
    _table("plain_parquet", "p.parquet"),
    _table("excel", "p.xlsx"),
    _table("p_arrow", "p.arrow"),
    _table("s_arrow", "s.arrow"),
    _table("p_feather", "p.feather"),
    _table("duckdb", "p.duckdb", weight=2.0),
    Target(
        "hierarchy",
        "districts.csv",
        "lines",
        (
            (
                *("protect", "p.csv", "--secret", "illness", "--released", "district", "--epsilon", "1"),
                *("--levels", "district=districts.csv", "--least", "5", "-o", "out"),
            ),
        ),
    ),
    *_papers("cells", "r/certificate.json", "r/levels.json", "r/private/rules.json", "r/data.csv"),
    Target("cells", "tacit.toml", "lines", (("check", "r", "p.csv"), ("check", "p.csv", "--format", "sarif")), 2.0),
    *_papers("cells_mixed", "r/certificate.json", "r/channel.json", "r/private/rules.json"),
    *_papers("watchdog", "r/certificate.json", "r/channel.json", "r/private/rules.json", "r/private/key.txt"),
    *_papers("optimal", "r/certificate.json", "r/channel.json", "r/private/rules.json", "r/private/salt.txt"),
    *(_ledger(box) for box in ("cells", "watchdog", "optimal")),
    *(_rules(box) for box in ("cells", "cells_mixed", "watchdog", "optimal")),
    Target("model", "m.tacit", "zip", ((READ, "model", "m.tacit"), ("audit", "p.csv", *_READING)), 4.0),
    Target("words", "m.tacit", "zip", ((READ, "words", "m.tacit"), ("explain-text", *_READING)), 4.0),
    *_papers("words", "r/certificate.json", "r/data.csv", "r/private/terms.json", data="posts.csv"),
    *_papers("npz", "r/certificate.json", "r/private/flags.npz", "r/private/names.csv", data="faces.npz"),
    *_papers("folder", "r/certificate.json", "r/labels.csv", "r/private/names.csv", data="faces"),
    Target(
        "npz",
        "faces.npz",
        "zip",
        ((READ, "images", "faces.npz"), ("audit", "faces.npz", "--secret", "smile", "--patch", "4")),
        3.0,
    ),
    *(
        Target("folder", file, form, ((READ, "folder", "faces"),), 2.0)
        for file, form in (("labels.csv", "lines"), ("faces/face00.png", "bytes"), ("faces/face01.jpg", "bytes"))
    ),
    _person(
        *("case", "case.yaml", "yaml", "audit", "dip", "release", "remove", "decoy", "verify-next", "population"),
        reader="case",
        weight=6.0,
    ),
    _person("case", "breaches.json", "json", "audit", reader="pool"),
    _person("case", "broker.jsonl", "lines", "audit", reader="pool", weight=4.0),
    _person("case", "shop.csv", "lines", "audit", reader="pool"),
    _person("case", "zip_codes.csv", "lines", "audit", reader="case"),
    _person("case", "people.csv", "lines", "population", weight=0.5),
    *(_file(file, "json") for file in ("rows.json", "scan.json", "harvest.json", "domain.json", "breaches.json")),
    *(_file(file) for file in ("facts.csv", "cards.vcf", "contacts.csv", "mails.mbox", "entities.json", "scan.csv")),
    _file("harvest.xml", "bytes"),
    _person("linked", "case.yaml", "yaml", "audit", reader="case"),
    _person("linked", "splink.json", "json", "audit"),
    _person("linked", "clusters.csv", "lines", "audit", reader="case"),
)


def _read_table(path: Path) -> None:
    from tacit.tables import open_table

    table = open_table(path)
    with table.reading():
        table.row_count()


def _read_columns(path: Path) -> None:
    from tacit.tables import open_table

    table = open_table(path)
    with table.reading():
        table.head(table.names, 1000)


def _read_certificate(path: Path) -> None:
    from tacit.release import read_certificate

    read_certificate(path)


def _read_ledger(path: Path) -> None:
    from tacit.release.ledger.file import read_ledger

    read_ledger(path)


def _read_model(path: Path) -> None:
    from tacit.learn import load_model

    load_model(path)


def _read_words(path: Path) -> None:
    from tacit.lenses.text import TextModel

    TextModel.load(path).read("word1 word2 #tax")


def _read_images(path: Path) -> None:
    from tacit.lenses.images import open_images

    open_images(path)


def _read_folder(path: Path) -> None:
    from tacit.lenses.images import open_images

    open_images(path, labels=path.parent / "labels.csv")


def _read_case(path: Path) -> None:
    from tacit.person import read_case

    read_case(path)


def _read_pool(path: Path) -> None:
    from tacit.person import read_case
    from tacit.person.inquiry import read_sources

    read_sources(read_case(path))


READERS: dict[str, Callable[[Path], Any]] = {
    "table": _read_table,
    "columns": _read_columns,
    "certificate": _read_certificate,
    "ledger": _read_ledger,
    "model": _read_model,
    "words": _read_words,
    "images": _read_images,
    "folder": _read_folder,
    "case": _read_case,
    "pool": _read_pool,
}
