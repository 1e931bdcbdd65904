"""A real PostgreSQL: what is asked of the server, what is read in one snapshot, and who learns the password."""

from __future__ import annotations

import datetime as dt
import json
import os
import time
import traceback

import pyarrow as pa
import pytest

import tacit
from postgres_server import PASSWORD, USER
from sizes import few
from tacit.codes import CategoryScale, DateScale, NumberScale, PrefixScale, WholeScale, atoms_table
from tacit.codes.scales.calendar import UNITS, number_of_moment
from tacit.codes.scales.kinds.beginnings import BeginningScale
from tacit.errors import ArgumentError, EngineError, SourceError, TacitError
from tacit.loading import fenced
from tacit.tables import Cut, count, counting, cut, open_table
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
    assert streams == []
    assert table.sample(["n"], 120).column("n").to_pylist() == list(range(120))
    assert "no primary key" in " ".join(table.notes)
    assert streams == [["n"]]


NASTY = """
CREATE TABLE nasty AS SELECT i AS id,
  (ARRAY['NaN', 'Infinity', '-Infinity', '-0', '0', '5e-324', '1.7976931348623157e308', '0.3', '0.30000000000000004',
         '17.999999999999996', '18', '65'])[i % 13 + 1]::float8 AS f,
  (ARRAY['NaN', 'Infinity', '0.1', '-0', '16777217', '18'])[i % 7 + 1]::float4 AS small,
  (ARRAY[9007199254740993, 9007199254740992, -9223372036854775808, 9223372036854775807, 0, 18])[i % 7 + 1] AS big,
  (ARRAY['NaN', '17.99', '18.00', '18.01', '-0.00', '9999.99'])[i % 7 + 1]::numeric(6, 2) AS money,
  (ARRAY['NaN', '0.3', '18', '0.30000000000000000000001', '1e400', '-1e-400'])[i % 7 + 1]::numeric AS free,
  (ARRAY['infinity', '-infinity', '0044-03-15 BC', '1999-12-31', '2000-01-01', '2000-02-29', '2004-12-26', '2021-01-03',
         '2021-01-04', '12000-01-01'])[i % 11 + 1]::date AS day,
  (ARRAY['infinity', '0044-03-15 BC', '1999-12-31 23:59:59.999999', '2000-01-01', '2021-01-03 23:30',
         '2021-01-04 00:30', '2021-03-28 02:30'])[i % 8 + 1]::timestamp AS moment,
  (ARRAY['-infinity', '1999-12-31 23:30:00-05', '2000-01-01 00:30:00+05:30', '2021-01-03 23:30Z',
         '2021-01-04 00:30+01'])[i % 6 + 1]::timestamptz AS zoned,
  (ARRAY['', ' ', 'a', 'A', 'ä', 'Z', 'a\', 'a''b', '\\x', 'ab', 'aB', 'a ', 'é', 'é', 'ß', 'ss', '😀😁',
         'ﬁ', 'I', 'ı', 'İ'])[i % 22 + 1] COLLATE "und-x-icu" AS word,
  (ARRAY['', 'a', 'A', 'a b', 'é', 'ab  '])[i % 7 + 1]::char(4) AS padded
FROM generate_series(1, 3000) i"""
DAY = dt.datetime(2000, 1, 1)


def dates_by(column, unit, layout="typed"):
    first, last = (number_of_moment(unit, each) for each in (DAY, dt.datetime(2021, 1, 4, 3)))
    return DateScale(column, unit, layout, first, last, True, True, True)


def beginnings(column, starts):
    return BeginningScale(column, tuple(sorted(starts)), None, True)


@pytest.fixture(scope="module")
def nasty(postgres):
    """A table of a server that shows moments in a zone of its own."""
    postgres.run(NASTY, "ALTER TABLE nasty ADD PRIMARY KEY (id)", f"ALTER ROLE {USER} SET timezone TO 'Asia/Kolkata'")
    yield postgres.address("nasty")
    postgres.run(f"ALTER ROLE {USER} RESET timezone")


def streaming(monkeypatch):
    """What is counted here, as for any other source: the server is told of nothing that replaced a column."""
    monkeypatch.setattr(PostgresEngine, "coarsened", lambda self, before, after, ways: after)


STEPS = (-1.0, 0.0, 5e-324, 0.1, 0.3, 0.30000000000000004, 18.0, 16777216.0, 9007199254740992.0, 1e300)
LETTERS = ("a", "A", "ab", "é", "\U0001f600", "a'b", "\\x", "Z")
WAYS = {
    "floats": NumberScale("f", STEPS, False, None, None, (0.0,) * 11, True),
    "small": NumberScale("small", STEPS, False, None, None, (0.0,) * 11, True),
    "big": NumberScale("big", (0.0, 18.0, 9007199254740992.0, 9007199254740994.0), False, None, None, (0.0,) * 5, True),
    "money": NumberScale("money", (0.0, 17.99, 18.0, 18.01), False, None, None, (0.0,) * 5, True),
    "edgeless": NumberScale("f", (), False, None, None, (0.0,), True),
    **{f"days by {unit}": dates_by("day", unit) for unit in UNITS},
    **{f"moments by {unit}": dates_by("moment", unit) for unit in UNITS},
    **{f"zoned by {unit}": dates_by("zoned", unit, "UTC") for unit in UNITS},
    "beginnings": beginnings("word", LETTERS),
    "padded": beginnings("padded", LETTERS),
    "prefixes": PrefixScale("word", ("", "A", "Z", "a", "ä"), 1, None, True),
    "others": CategoryScale("word", "text", ("A", "a", "a "), True, True),
    "list": CategoryScale("padded", "text", ("", "A", "a", "a b", "ab", "é"), True),
    "whole": WholeScale("word", False),
}


def test_atoms_are_counted_by_the_server_as_duckdb_counts_them(nasty, streams, monkeypatch):
    ways = {name: WAYS[name] for name in few(list(WAYS), 14)}
    there, here = open_table(nasty), open_table(nasty)
    made = {name: atoms_table(there, [scale]) for name, scale in ways.items()}
    counts = {name: count(made[name], [scale.column]) for name, scale in ways.items()}
    thinned = {name: made[name].sample([scale.column], 300).column(0).to_pylist() for name, scale in ways.items()}
    assert {each.row_count() for each in made.values()} == {3000}
    assert streams == []
    streaming(monkeypatch)
    for name, scale in ways.items():
        streamed = atoms_table(here, [scale])
        assert counts[name].agrees(count(streamed, [scale.column])), name
        assert thinned[name] == rows_of(streamed, scale.column)[::10], name
        assert len(counts[name].records) > (name != "whole"), name
    assert len(streams) >= len(ways)


def rows_of(table, column):
    return table.sample([column], 10**9).column(0).to_pylist()


def test_bins_are_counted_by_the_server_beside_other_columns_as_duckdb_counts_them(nasty, streams, monkeypatch):
    cuts = [Cut("f", STEPS), Cut("big", (0, 18)), Cut("money", (18,)), Cut("small", ())]
    columns = ["word", "f", "money", "big", "small"]
    there = count(cut(open_table(nasty), cuts).select(columns), columns)
    assert streams == []
    streaming(monkeypatch)
    assert there.agrees(count(cut(open_table(nasty), cuts).select(columns), columns))
    assert streams


def test_what_the_server_might_read_otherwise_is_streamed(nasty, streams, monkeypatch):
    wide = cut(open_table(nasty), [Cut("free", (0.3, 18))])
    counts = count(wide, ["free"])
    assert dict(zip(counts.levels[0], counts.records.tolist(), strict=True)) == {
        **{"< 0.3": 428, "[0.3, 18)": 858, ">= 18": 858, None: 856}
    }
    assert len(streams) == 2
    listed = CategoryScale("word", "text", ("a",), True, True)
    with monkeypatch.context() as patch:
        patch.setattr(counting, "MAX_GROUPS", 5)
        others = count(atoms_table(open_table(nasty), [listed]), ["word"])
    assert len(others.records) == 3
    assert ["word"] in streams
    streams.clear()
    latin = open_table(nasty)
    latin.engine._utf8 = False
    count(atoms_table(latin, [WAYS["beginnings"]]), ["word"])
    assert streams
    # A filtered table is not the one that the server holds.
    assert open_table(nasty).every(7).row_count() == 429


def test_rows_without_a_key_are_in_one_order_whatever_is_asked_for(postgres):
    postgres.run(
        "CREATE TABLE heap AS SELECT i * 7919 % 3000 AS n, repeat('x', 900) || i AS w FROM generate_series(1, 3000) i",
        "CREATE INDEX ON heap (n)",
    )
    postgres.run("VACUUM ANALYZE heap", at_once=True)
    whole = open_table(postgres.address("heap"))
    expected = [row["n"] for row in rows(whole)]
    assert expected == [i * 7919 % 3000 for i in range(1, 3001)]
    assert rows_of(open_table(postgres.address("heap")), "n") == expected
    assert open_table(postgres.address("heap")).sample(["n"], 300).column(0).to_pylist() == expected[::10]


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


def test_a_table_that_is_no_longer_used_leaves_no_connection_open(postgres, people):
    postgres.run("CREATE VIEW clients AS SELECT pid FROM pg_stat_activity WHERE backend_type = 'client backend'")

    def clients():
        return open_table(postgres.address("clients")).row_count()

    before = clients()
    for _ in range(3):
        table = open_table(people)
        count(cut(table, [Cut("n", (5,))]), ["n", "race"])
        assert len(rows(table)) == len(rows(table.pinned())) == 120
        del table
    # The server takes a moment to see that a client has gone, and counting clients takes one each time.
    end, open_now = time.monotonic() + 20, clients()
    while open_now > before and time.monotonic() < end:
        time.sleep(0.1)
        open_now = clients()
    assert open_now <= before


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
    assert "a PostgreSQL table can be read but not written" in " ".join(seen[1][1].split())
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
