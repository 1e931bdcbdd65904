"""A real PostgreSQL for the tests: made in a directory of its own, on loopback, and never run as root."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from itertools import count
from pathlib import Path
from typing import Any
from urllib.parse import quote

USER, PASSWORD = "tacit", "p@ss/word: 1%"
_serial = count()


@cache
def postgres_programs() -> Path | None:
    """Where the programs of the server are; Debian keeps them off the path."""
    found = [Path(each).parent for each in [shutil.which("initdb")] if each]
    found += sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)
    return next((each for each in found if (each / "postgres").exists()), None)


def postgres_missing() -> str | None:
    """Why there can be no server here, or None."""
    if find_spec("adbc_driver_postgresql") is None:
        return "adbc-driver-postgresql is not installed (extra `postgres`)"
    return None if postgres_programs() else "PostgreSQL is not installed (apt-get install postgresql)"


@dataclass(frozen=True)
class PostgresServer:
    """A server that runs: its port."""

    port: int

    def address(self, table: str | None = None, *, user: str = USER, password: str | None = PASSWORD) -> str:
        """The address of a table, or of the database."""
        who = user if password is None else f"{user}:{quote(password, safe='')}"
        return f"postgresql://{who}@127.0.0.1:{self.port}/postgres" + (f"::{table}" if table else "")

    def run(self, *statements: str, at_once: bool = False) -> None:
        """Carry out statements, together or each ``at_once``."""
        from adbc_driver_postgresql import dbapi

        with dbapi.connect(self.address(), autocommit=at_once) as connection, connection.cursor() as cursor:
            for each in statements:
                cursor.execute(each)
            if not at_once:
                connection.commit()

    def holding(self, data: Any) -> str:
        """The address of a new table with the rows of an Arrow table."""
        from adbc_driver_postgresql import dbapi

        name = f"t{next(_serial)}"
        with dbapi.connect(self.address()) as connection, connection.cursor() as cursor:
            cursor.adbc_ingest(name, data, mode="create")
            for field in data.schema:
                # What comes in as a decimal would be a number of any length.
                if str(field.type).startswith("decimal"):
                    column, kind = field.name.replace('"', '""'), f"numeric({field.type.precision}, {field.type.scale})"
                    cursor.execute(f'ALTER TABLE {name} ALTER COLUMN "{column}" TYPE {kind}')
            connection.commit()
        return self.address(name)


@contextmanager
def postgres_server() -> Iterator[PostgresServer]:
    """A server for as long as the block runs; as root it is run by somebody who may do nothing."""
    programs = postgres_programs()
    assert programs is not None
    place = Path(tempfile.mkdtemp(prefix="tacit-postgres-"))
    (place / "password").write_text(PASSWORD)
    as_nobody: list[str] = []
    if os.getuid() == 0:
        as_nobody = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
        for each in (place, place / "password"):
            os.chown(each, 65534, 65534)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]

    def run(program: str, *words: str) -> None:
        subprocess.run([*as_nobody, str(programs / program), *words], check=True, cwd=place, stdout=subprocess.DEVNULL)

    data = str(place / "data")
    settings = f"-p {port} -k {place} -c listen_addresses=127.0.0.1 -c fsync=off -c shared_buffers=16MB"
    try:
        run(
            *("initdb", "-D", data, "-U", USER, f"--pwfile={place / 'password'}", "--auth=scram-sha-256"),
            *("--no-sync", "-E", "UTF8", "--locale=C.UTF-8"),
        )
        run("pg_ctl", "-D", data, "-w", "-o", settings, "-l", str(place / "log"), "start")
        try:
            yield PostgresServer(port)
        finally:
            run("pg_ctl", "-D", data, "-m", "immediate", "stop")
    finally:
        shutil.rmtree(place, ignore_errors=True)
