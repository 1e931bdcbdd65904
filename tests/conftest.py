"""Shared fixtures: the command line, one small table on every frame and engine, and one Spark session for all tests."""

from __future__ import annotations

import gc
import io
import os
import shutil
import sys
import warnings
from collections.abc import Callable, Iterator
from functools import cache
from importlib.util import find_spec
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import settings

from postgres_server import PostgresServer, postgres_missing, postgres_server
from sizes import few, many

if TYPE_CHECKING:
    from tacit.tables import Table

# The workers share the cores: a thread for each core in each worker is a thread that waits. Libraries read this when
# they load, so nothing above may load them.
os.environ |= {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}

# A busy machine is not a failing test, and a run of all tests is a matter of minutes unless `--long` is asked for.
settings.register_profile("quick", deadline=None, max_examples=12)
settings.register_profile("long", deadline=None)
settings.load_profile("quick")

BACKENDS = [
    "arrow",
    "polars",
    "pandas",
    "duckdb",
    pytest.param("spark", marks=pytest.mark.spark),
    pytest.param("postgres", marks=pytest.mark.postgres),
]

# Nor is it worth while to compile queries at all, or to plan them anew on the way; with `--long` Spark is as it comes.
UNCOMPILED = {
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
}
# Nor to remember for each expression which line made it, to look at each plan twice, or to shuffle into several parts:
# tables have two partitions still, and a test that is about partitions says how many.
BRIEF = UNCOMPILED | {
    "spark.default.parallelism": "2",
    "spark.python.sql.dataFrameDebugging.enabled": "false",
    "spark.sql.lightweightPlanChangeValidation": "false",
    "spark.sql.shuffle.partitions": "1",
}


@pytest.fixture(scope="module", autouse=True)
def _engines_count(request: pytest.FixtureRequest) -> Iterator[None]:
    """Where engines are tested, they count even the few rows of a test, which this process would otherwise count."""
    from tacit.tables import table

    here = {"tables", "codes"} & set(request.path.parts)
    before, table.FEW_ROWS = table.FEW_ROWS, 0 if here else table.FEW_ROWS
    yield
    table.FEW_ROWS = before


@cache
def spark_missing() -> str | None:
    """Why Spark cannot run here, or None."""
    if find_spec("pyspark") is None:
        return "pyspark is not installed (extra `spark`)"
    return None if shutil.which("java") else "there is no Java"


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--long", action="store_true", help="the tests at full size: `make test-long`")


def pytest_configure(config: pytest.Config) -> None:
    """Before any test is read, for sizes are read with it."""
    if config.getoption("--long"):
        settings.load_profile("long")


def pytest_collection_modifyitems(items: list[pytest.Function]) -> None:
    """Spark's tests first, then the browser's, so that one worker alone starts Java and a browser.

    Only the end of a worker's work goes to another. Type checkers come last: by then ``make check``, which runs beside
    the tests, has found out what they ask. Without Spark its tests are skipped with a reason; their warnings about
    versions of pandas are not ours to mend.
    """
    places = {"spark": 0, "postgres": 0, "browser": 1, "types": 3}
    items.sort(key=lambda item: next((at for name, at in places.items() if item.get_closest_marker(name)), 2))
    on_spark: set[tuple[str, str]] = set()
    for item in items:
        spare = False
        if item.get_closest_marker("spark") and (
            "as_table" in item.fixturenames or "tests/codes/scales" in item.nodeid
        ):
            # One case of a sentence is tried on Spark, the others on frames; and the rooms above are written in
            # expressions that the tests of tables hold there. At length all of them are.
            sentence = str(item.path), item.originalname
            spare = sentence in on_spark or "tests/tables" not in item.nodeid
            on_spark.add(sentence)
        if (spare or item.get_closest_marker("long")) and many(1, 0):
            item.add_marker(pytest.mark.skip(reason="at length: make test-long"))
        if item.get_closest_marker("postgres") and (missing := postgres_missing()):
            item.add_marker(pytest.mark.skip(reason=missing))
        if item.get_closest_marker("spark"):
            reason = spark_missing()
            if reason:
                item.add_marker(pytest.mark.skip(reason=reason))
            item.add_marker(pytest.mark.filterwarnings("ignore:PySpark does not yet fully support pandas"))
            item.add_marker(pytest.mark.filterwarnings("ignore::ResourceWarning"))


def pytest_collection_finish() -> None:
    """Hundreds of thousands of objects are there to stay: the modules and the tests. To look through them again and
    again for garbage took a sixteenth of the processor's time.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(50_000, 20, 20)


def pytest_unconfigure() -> None:
    """Else DuckDB complains of what was never let go."""
    gc.unfreeze()


@pytest.fixture(scope="session", autouse=True)
def disk_is_not_waited_for() -> Iterator[None]:
    """What a test has written need not outlive a power cut."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "fsync", lambda descriptor: None)
        yield


@pytest.fixture
def tacit_command(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Callable[..., tuple[int, str, str]]:
    """The command ``tacit``, in this process: exit code, standard output and standard error."""
    # A process of its own would hide pandas from pyarrow, which has frames to read here.
    import pyarrow  # noqa: F401

    from tacit.cli import main

    def call(*words: str, stdin: str = "") -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["tacit", *words])
        monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(stdin.encode()), isatty=lambda: False))
        with pytest.raises(SystemExit) as stop:
            main()
        out, err = capsys.readouterr()
        return int(stop.value.code or 0), out, err

    return call


@pytest.fixture(scope="module")
def brief_network() -> Iterator[None]:
    """In the short form the network among the adversaries of images learns for a few steps.

    To train it takes most of the time of a release of images; what it can learn is tried by ``test_convolution.py``.
    """
    from tacit.learn.nets import convolution

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(convolution, "STEPS", many(30, convolution.STEPS))
        yield


@pytest.fixture
def without_suggestion(monkeypatch: pytest.MonkeyPatch) -> None:
    """An audit that tries no release, learns nothing by itself and shuffles little."""
    from sample_results import leave_out_suggestions

    leave_out_suggestions(monkeypatch)


@pytest.fixture(scope="session")
def spark() -> Iterator[Any]:
    """One quiet local Spark session, started when first asked for."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from pyspark.sql import SparkSession

        builder = SparkSession.builder.master(f"local[{many(1, 2)}]").appName("tacit-tests")
        for name, value in {
            "spark.ui.enabled": "false",
            "spark.ui.showConsoleProgress": "false",
            "spark.sql.shuffle.partitions": "2",
            "spark.driver.host": "127.0.0.1",
            "spark.driver.bindAddress": "127.0.0.1",
            "spark.log.level": "OFF",
            # Queries of a few rows: to compile them well costs more than to run them.
            "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
            **(BRIEF if many(1, 0) else {}),
        }.items():
            builder = builder.config(name, value)
        session = builder.getOrCreate()
    yield session
    session.stop()


@pytest.fixture(scope="session")
def postgres() -> Iterator[PostgresServer]:
    """One PostgreSQL, started when first asked for."""
    with postgres_server() as server:
        yield server


@pytest.fixture
def compiling_spark(spark: Any) -> Iterator[Any]:
    """Spark as it comes, for tens of thousands of rows."""
    usual = {name: spark.conf.get(name) for name in UNCOMPILED}
    for name in usual:
        spark.conf.unset(name)
    yield spark
    for name, value in usual.items():
        spark.conf.set(name, value)


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """In the short form one frame of each kind that is handed over differently, and both engines.

    When this file is read, nobody knows yet which form it is.
    """
    if "as_table" in metafunc.fixturenames:
        metafunc.parametrize("as_table", few(BACKENDS, 3), indirect=True)


@pytest.fixture
def as_table(request: pytest.FixtureRequest) -> Callable[[Any], Table]:
    """Turns an Arrow table into a table of each frame and engine."""
    backend = request.param
    server = request.getfixturevalue(backend) if backend in ("spark", "postgres") else None
    return lambda data: table_on(backend, data, server)


def table_on(backend: str, data: Any, server: Any = None) -> Table:
    """An Arrow table as a table of one frame or engine."""
    from tacit.tables import open_table

    if backend == "postgres":
        return open_table(server.holding(data))

    if backend == "pandas":
        import pandas as pd

        # Nullable types, so that pandas neither turns whole numbers to floats nor NaN to missing.
        return open_table(data.to_pandas(types_mapper=pd.ArrowDtype))
    if backend == "polars":
        import polars as pl

        return open_table(pl.from_arrow(data))
    if backend == "duckdb":
        import duckdb

        return open_table(duckdb.connect().from_arrow(data))
    return open_table(data, engine="spark" if backend == "spark" else "duckdb")
