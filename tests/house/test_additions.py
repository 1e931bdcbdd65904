"""A format, an engine, a mechanism, a section and an action are one new file (or function) and one line each.

They are really added, to a copy of the house, and used: by the command line, from Python and through the schema.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

import tacit
from tacit.person.actions import ACTIONS

SOURCE = Path(tacit.__file__).parent
FILES = {
    "tables/formats/psv.py": """
        from dataclasses import replace
        from tacit.tables.formats.csv import Csv

        class Psv(Csv):
            name, endings, options = "psv", (".psv",), ()

            def open(self, file, engine):
                return super().open(replace(file, delimiter="|"), engine)
        """,
    "tables/engines/second.py": """
        from tacit.tables.engines.duckdb.engine import DuckDBEngine

        class SecondEngine(DuckDBEngine):
            name, title, modules = "second", "Second", ()
        """,
    "lenses/table/mechanisms/hiding.py": """
        import numpy as np
        from tacit.lenses.table.mechanisms.plan import Candidate
        from tacit.release.treatment import Merging

        def all_hidden(counted, goal):
            merged = np.ones(counted.joint.shape[1], dtype=bool)
            made_by = {"name": "hide", "replacement": "suppress", "method": "all of it"}
            return Candidate(Merging.of(counted.joint.marginal, merged, "suppress"), 1.0, made_by)
        """,
    "person/actions/count.py": '''
        "How many records are there?"
        from dataclasses import dataclass
        from tacit import document as doc
        from tacit.person.actions.asking import ShowValues
        from tacit.report.result import Result

        EXAMPLES = ({},)

        @dataclass(frozen=True)
        class PersonCountResult(Result):
            records: int

            def document(self):
                return doc.Document("person_count", "Count", doc.badge("holds"), f"{self.records} records", (), (), ())

        def person_count(case, *, show_values: ShowValues = False, progress=None):
            """How many records the sources of a case hold."""
            from tacit.person.inquiry import narrowed, opened

            return PersonCountResult(opened(narrowed(case, adversary=()), progress=progress).pool.n_records)
        ''',
}
# The file, a line that is there, and the line that comes after it.
LINES = [
    ("tables/formats/__init__.py", "_PLACES = (", '    "tacit.tables.formats.psv:Psv",'),
    ("requests/names.py", "ENGINES = {", '    "second": "tacit.tables.engines.second:SecondEngine",'),
    (
        "requests/names.py",
        "MECHANISMS = {",
        '    "hide": MechanismChoice("tacit.lenses.table.mechanisms.hiding:all_hidden", "hides every value"),',
    ),
    ("person/actions/__init__.py", "ACTIONS: Mapping[str, str] = {", '    "count": "How many records are there?",'),
    (
        "lenses/table/answers/audit.py",
        "# The order of the answer, and of what is folded. A new section is a function and a line here.",
        "def _word(audit): return (doc.Section('A word more', (doc.Paragraph('It is said.'),)),)",
    ),
]
PEOPLE = "age|race\n" + "".join(f"{age}|{race}\n" for age in (20, 30, 40) for race in "AABBC"[: 3 + age // 20])


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the house with the additions, and a table beside it."""
    place = tmp_path_factory.mktemp("house")
    shutil.copytree(SOURCE, place / "tacit")
    for name, text in FILES.items():
        (place / "tacit" / name).write_text(textwrap.dedent(text).lstrip())
    for name, before, line in LINES:
        path = place / "tacit" / name
        text = path.read_text("utf-8")
        assert text.count(f"{before}\n") == 1, (name, before)
        path.write_text(text.replace(f"{before}\n", f"{before}\n{line}\n"))
    answer = place / "tacit" / "lenses/table/answers/audit.py"
    answer.write_text(answer.read_text("utf-8").replace("SECTIONS = (", "SECTIONS = (_word, "))
    (place / "people.psv").write_text(PEOPLE)
    return place


KEPT = "protect people.psv --secret race --epsilon 2 --replacement merge -o kept"
KEPT_VERIFIED = "verify kept --against people.psv --format json"
HIDDEN = "protect people.psv --secret race --epsilon 0.5 --mechanism hide -o hidden --full"
HIDDEN_VERIFIED = "verify hidden --against people.psv"
AUDITED = "audit people.psv --secret race --engine second --report page.html"
COUNTED = "person count mine/case.yaml --format json"
ENGINES = "print(tacit.requests.schema([tacit.requests.Question])['properties']['engine']['enum'])"
MECHANISMS = "print(tacit.requests.schema([tacit.requests.Making])['properties']['mechanism']['enum'])"
IN_PYTHON = "print(tacit.person.person_count('mine/case.yaml'))"
HELP = ("audit --help", "protect --help", "person --help", "person count --help")
ASKED = (*HELP, KEPT, KEPT_VERIFIED, HIDDEN, HIDDEN_VERIFIED, AUDITED, "person init mine", COUNTED)


@pytest.fixture(scope="module")
def said(house: Path) -> dict[str, str]:
    """What each of these commands and lines of Python prints, one after another in one process of the house."""
    code = (
        "import sys\nimport tacit.person, tacit.requests\nfrom tacit.cli import main\n"
        "for line in sys.argv[1:]:\n"
        "    sys.argv = ['tacit', *line.split()]\n"
        "    try:\n        exec(line) if line.startswith('print(') else main()\n"
        "    except SystemExit as stop:\n        assert not stop.code, line\n"
        "    print('=====')"
    )
    lines = (*ASKED, ENGINES, MECHANISMS, IN_PYTHON)
    env = {**os.environ, "PYTHONPATH": str(house)}
    done = subprocess.run([sys.executable, "-c", code, *lines], capture_output=True, text=True, env=env, cwd=house)
    assert done.returncode == 0, done.stderr
    return dict(zip(lines, " ".join(done.stdout.split()).split("====="), strict=False))


@pytest.mark.long
def test_a_new_format_is_read_and_written_and_verified_like_its_kin(house: Path, said: dict[str, str]) -> None:
    assert (house / "kept/data.psv").read_text().startswith("age\n")
    assert "written plainly" in said[KEPT_VERIFIED]


def test_a_new_engine_is_an_option_and_part_of_the_schema_and_counts(said: dict[str, str]) -> None:
    assert "|second" in said["audit --help"].replace("second|", "|second|")
    assert "race" in said[AUDITED]
    assert "'second'" in said[ENGINES]


def test_a_new_mechanism_is_an_option_with_its_help_and_makes_a_release_that_verifies(
    house: Path, said: dict[str, str]
) -> None:
    assert "hide hides every value" in said["protect --help"]
    assert "hide: one set of values is merged" in said[HIDDEN]
    assert '"name": "hide"' in (house / "hidden/certificate.json").read_text()
    assert "HOLDS" in said[HIDDEN_VERIFIED]
    assert "'hide'" in said[MECHANISMS]


def test_a_new_action_is_a_command_with_options_help_and_a_name_in_python(said: dict[str, str]) -> None:
    assert "count How many records are there?" in said["person --help"]
    assert "--show-values" in said["person count --help"]
    assert '"records": 11' in said[COUNTED]
    assert "11" in said[IN_PYTHON]


def test_a_new_section_is_in_the_text_and_on_the_page(house: Path, said: dict[str, str]) -> None:
    assert "A word more" in said[AUDITED]
    assert "A word more" in (house / "page.html").read_text("utf-8")


def test_type_checkers_see_every_action() -> None:
    face = (SOURCE / "person/__init__.py").read_text("utf-8")
    for name in ACTIONS:
        assert f"import person_{name} as person_{name}\n" in face, name
