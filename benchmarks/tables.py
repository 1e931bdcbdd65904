"""The generated table of people, and what bare DuckDB does with it; scale.py measures Tacit against that.

``bare_count`` is one GROUP BY of the five columns, all that ``audit`` needs of the engine. ``bare_protect`` joins the
rows with a table of their values, of which a tenth are replaced, and COPYs the result, losing the order of the rows.
"""

from __future__ import annotations

from pathlib import Path

DATA = Path(__file__).parent / "data"
RELEASED = ["sex", "age", "region", "job"]
COLUMNS = ["origin", *RELEASED]


def generate(path: Path, rows: int) -> None:
    """Five columns of text: 6 secrets and 2 x 5 x 5 x 60 = 3,000 released values, some of which tilt to a secret."""
    import duckdb

    path.parent.mkdir(parents=True, exist_ok=True)
    connection = duckdb.connect()
    connection.execute("SET threads = 1; SELECT setseed(0.5)")
    connection.execute(f"""
        COPY (SELECT 'origin ' || s AS origin, 'sex ' || floor(random() * 2)::INT AS sex,
              'age ' || floor(random() * 5)::INT AS age, 'region ' || floor(random() * 5)::INT AS region,
              'job ' || CASE WHEN random() < 0.02 THEN s ELSE floor(random() * 60)::INT END AS job
              FROM (SELECT floor(random() * 6)::INT AS s FROM range({rows})))
        TO '{path}' (FORMAT parquet, COMPRESSION snappy)""")


def bare_count(path: Path, _: Path) -> None:
    """One GROUP BY."""
    import duckdb

    duckdb.connect().sql(f"SELECT {', '.join(COLUMNS)}, count(*) FROM '{path}' GROUP BY ALL").to_arrow_table()


def bare_protect(path: Path, out: Path) -> None:
    """Join with a table of values, replace a tenth of them, write."""
    import duckdb

    connection = duckdb.connect()
    keys = ", ".join(RELEASED)
    connection.execute(
        f"CREATE TABLE released AS SELECT {keys}, hash({keys}) % 10 = 0 AS risky FROM '{path}' GROUP BY ALL"
    )
    cells = ", ".join(f"CASE WHEN risky THEN 'drawn' ELSE t.{name} END AS {name}" for name in RELEASED)
    connection.execute(
        f"COPY (SELECT {cells} FROM '{path}' t JOIN released USING ({keys})) "
        f"TO '{out}.parquet' (FORMAT parquet, COMPRESSION snappy)"
    )
