"""A real PostgreSQL: what is asked of the server, what is read in one snapshot, and who learns the password."""

from __future__ import annotations

import json
import os
import traceback

import pyarrow as pa
import pytest

import tacit
from postgres_server import PASSWORD, USER
from tacit.errors import ArgumentError, EngineError, SourceError, TacitError
from tacit.loading import fenced
from tacit.tables import count, open_table
from tacit.tables.engines.postgres import PostgresEngine

pytestmark = pytest.mark.postgres
DATA = pa.table({"race": list("aab" * 40), "city": list("xyxzzy" * 20), "n": list(range(120))})


def rows(table):
    return table.sample(table.names, 10**9).to_pylist()


@pytest.fixture(scope="module")
def people(postgres):
    return postgres.holding(DATA)


@pytest.fixture
def streams(monkeypatch):
    """The columns that are brought over, stream by stream."""
    seen, made = [], PostgresEngine._reader

    def watched(self, columns):
        seen.append([each.name for each in columns])
        return made(self, columns)

    monkeypatch.setattr(PostgresEngine, "_reader", watched)
    return seen


def test_columns_as_they_are_are_counted_by_the_server_and_no_row_is_brought_over(people, streams):
    table = open_table(people)
    counts = count(table, ["race", "city"])
    assert counts.records.tolist() == count(open_table(DATA), ["race", "city"]).records.tolist()
    assert table.row_count() == 120
    assert streams == []


def test_only_the_columns_that_are_asked_for_are_brought_over(people, streams):
    table = open_table(people)
    assert table.sample(["n"], 3).column("n").to_pylist() == [0, 40, 80]
    assert "no primary key" in " ".join(table.notes)
    assert streams == [["n"]]


def test_all_that_is_read_is_of_one_moment_and_in_one_order(postgres, streams):
    name = postgres.holding(DATA).rpartition("::")[2]
    postgres.run(f"ALTER TABLE {name} ADD PRIMARY KEY (n)", f"UPDATE {name} SET race = 'c' WHERE n < 50")
    table = open_table(postgres.address(name))
    assert table.notes == ()
    before = rows(table)
    postgres.run(f"DELETE FROM {name} WHERE n % 2 = 0", f"INSERT INTO {name} VALUES ('z', 'z', 999)")
    assert table.row_count() == 120
    assert rows(table) == rows(table.pinned()) == before
    assert [row["n"] for row in before] == list(range(120))
    assert len(streams) == 3
    assert rows(table) == before
    assert len(streams) == 3
    assert open_table(postgres.address(name)).row_count() == 61


def test_types_without_a_name_in_arrow_are_text_and_numbers_keep_every_digit(postgres):
    postgres.run(
        "CREATE TYPE mood AS ENUM ('sad', 'glad')",
        "CREATE TABLE kinds AS SELECT 'glad'::mood AS mood, '1 day'::interval AS long, '{\"a\": 1}'::jsonb AS j, "
        "'0b3b5c6e-8f1d-4c7e-9d50-111111111111'::uuid AS u, 1.50::numeric(6, 2) AS fixed, "
        "12345678901234567890.10::numeric AS free, 'NaN'::numeric(6, 2) AS none, 'ab'::char(4) AS ch, ARRAY[1] AS list",
        "CREATE VIEW looks AS SELECT mood, random() AS r FROM kinds, generate_series(1, 5)",
    )
    table = open_table(postgres.address("kinds"))
    assert list(map(str, rows(table)[0].values())) == [
        *("glad", "1 day", '{"a": 1}', "0b3b5c6e-8f1d-4c7e-9d50-111111111111", "1.50", "12345678901234567890.10"),
        *("None", "ab", "[1]"),
    ]
    assert [column.kind for column in table.columns][4:7] == ["number"] * 3
    view = open_table(postgres.address("looks"))
    assert rows(view) == rows(view)
    assert view.row_count() == 5


def test_a_table_is_named_in_its_address_or_chosen_among_those_that_may_be_read(postgres, people):
    name = people.rpartition("::")[2]
    assert open_table(f"{postgres.address()}/{name}").row_count() == 120
    assert open_table(postgres.address(), table=f"public.{name}").row_count() == 120
    with pytest.raises(SourceError, match="tables, choose one with postgresql://tacit@127"):
        open_table(postgres.address())
    with pytest.raises(SourceError, match="has no table 'nope'; it has"):
        open_table(postgres.address("nope"))
    with pytest.raises(ArgumentError, match="has no delimiter to choose"):
        open_table(people, delimiter=",")
    with pytest.raises(EngineError, match="PostgreSQL is read by DuckDB"):
        open_table(people, engine="spark")
    with pytest.raises(SourceError, match="outside the folder"), fenced(os.curdir):
        open_table(people)


def test_an_odd_name_is_quoted_and_nothing_else_is_done(postgres):
    name = 'x"; DROP TABLE kept; --'
    quoted = name.replace('"', '""')
    postgres.run("CREATE TABLE kept (a int)", f'CREATE TABLE "{quoted}" ("c""; DROP TABLE kept; --" int)')
    table = open_table(postgres.address(), table=name)
    assert count(table, list(table.names)).records.tolist() == []
    assert open_table(postgres.address("kept")).row_count() == 0


def test_a_release_is_made_and_verified_and_nobody_learns_the_password(postgres, people, tmp_path, tacit_command):
    words = "--secret", "race", "--drop", "n", "--epsilon", "2", "--quiet"
    seen = [tacit_command("audit", people, *words[:4], "--report", str(tmp_path / "page.html"))]
    book = "--ledger", str(tmp_path / "ledger.json")
    seen += [tacit_command("protect", people, *words, *book, "-o", str(tmp_path / "out"), "--full")]
    seen += [tacit_command("verify", str(tmp_path / "out"), "--against", people)]
    assert [code for code, _, _ in seen] == [0, 0, 0], seen
    assert "holds" in seen[2][1].lower()
    assert "a table of PostgreSQL is read, and not written" in " ".join(seen[1][1].split())
    seen += [tacit_command("check", people, "--policy", str(policy(tmp_path))), tacit_command("audit", people)]
    said = "".join(out + err for _, out, err in seen)
    files = [path for path in tmp_path.rglob("*") if path.is_file() and path.suffix != ".parquet"]
    assert {path.name for path in files} >= {"certificate.json", "report.html", "page.html", "ledger.json"}
    for text in [said, *(path.read_text("utf-8") for path in files)]:
        assert not {secret for secret in hidden(people) if secret in text}
    certificate = json.loads((tmp_path / "out" / "certificate.json").read_text())
    assert certificate["input"]["format"] == "postgres"


def policy(place):
    path = place / "policy.toml"
    path.write_text('epsilon = 0.5\nsecret = "race"\n')
    return path


def hidden(address):
    """The password as it is, and as it stands in an address."""
    return PASSWORD, address.partition(":")[2].partition("@")[0].rpartition(":")[2]


@pytest.mark.parametrize(
    "address",
    [
        "postgresql://{user}:WRONG-p%40ss@127.0.0.1:{port}/postgres::t",
        "postgresql://{user}:WRONG-p%40ss@127.0.0.1:1/postgres::t",
        "postgresql://{user}:WRONG-p%40ss@127.0.0.1:port/postgres/t",
        "postgresql://{user}:WRONG-p%40ss@127.0.0.1:{port}/none?options=WRONG-p@ss",
        "postgresql://{user}@127.0.0.1:{port}/postgres/t?password=WRONG-p%40ss",
        "postgresql://{user}:WRONG-p%40ss@127.0.0.1:{port}/a/b/c",
    ],
)
def test_an_error_names_the_server_and_neither_it_nor_its_causes_tell_the_password(postgres, tacit_command, address):
    address = address.format(user=USER, port=postgres.port)
    with pytest.raises(TacitError, match=r"postgresql://tacit@127\.0\.0\.1") as caught:
        tacit.audit(address, secret="race")
    # Lines of this file show the address as it was typed.
    told = "".join(traceback.format_exception(caught.value, limit=0)) + str(caught.value)
    code, out, err = tacit_command("audit", address, "--secret", "race")
    assert code == 3
    for text in (told, out, err):
        assert "WRONG" not in text
        assert "\n" not in err.strip()


def test_the_password_comes_from_the_environment_or_a_file(postgres, people, tmp_path, monkeypatch):
    bare = people.replace(f":{hidden(people)[1]}@", "@")
    with pytest.raises(SourceError, match="the password is read from PGPASSWORD, a password file or a service file"):
        open_table(bare)
    monkeypatch.setenv("PGPASSWORD", PASSWORD)
    assert open_table(bare).row_count() == 120
    monkeypatch.delenv("PGPASSWORD")
    table = bare.rpartition("::")[2]
    service = tmp_path / "services"
    service.write_text(
        f"[people]\nhost=127.0.0.1\nport={postgres.port}\nuser={USER}\ndbname=postgres\npassword={PASSWORD}\n"
    )
    monkeypatch.setenv("PGSERVICEFILE", str(service))
    monkeypatch.setenv("PGSERVICE", "people")
    assert open_table(f"postgresql://::{table}").row_count() == 120
