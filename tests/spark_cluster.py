"""A real Spark cluster for the tests: a master and three workers on loopback, who see nothing that is the driver's."""

from __future__ import annotations

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from urllib.request import urlopen

# Of the workers, where the tests are run by root: nothing that is private to the driver can be read or written.
NOBODY = 65534
# Seconds after which a cluster that has not come up never will.
PATIENCE = 90
_SMALL = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"


@dataclass(frozen=True)
class SparkCluster:
    """A cluster that runs: its address, its workers, and the folder that driver and workers share."""

    address: str
    workers: tuple[int, ...]
    lake: Path

    def submit(self, job: Path, *words: str, settings: Mapping[str, str] | None = None) -> subprocess.Popen[str]:
        """Start a program as its driver, the way ``spark-submit`` does; its output is one stream."""
        usual = {
            "spark.driver.host": "127.0.0.1",
            "spark.driver.bindAddress": "127.0.0.1",
            "spark.driver.extraJavaOptions": _SMALL,
            "spark.executor.extraJavaOptions": _SMALL,
            "spark.executor.cores": "1",
            "spark.executor.memory": "600m",
            # The workers are somebody else, who is to write into folders that the driver makes for them.
            "spark.hadoop.fs.permissions.umask-mode": "000",
            "spark.sql.shuffle.partitions": "4",
            "spark.ui.enabled": "false",
            # What Spark says of its tasks is never older than their last report.
            "spark.ui.liveUpdate.period": "0",
            "spark.ui.showConsoleProgress": "false",
            "spark.log.level": "ERROR",
        }
        said = [f"--conf={name}={value}" for name, value in (usual | dict(settings or {})).items()]
        command = [str(_home() / "bin/spark-submit"), "--master", self.address, *said, str(job), *words]
        path = os.pathsep.join(each for each in sys.path if each)
        return subprocess.Popen(
            command,
            env=_environment() | {"PYTHONPATH": path},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            umask=0,
        )


def kill_worker(worker: int) -> None:
    """End a worker and its executors at once, as a machine that fails does."""
    for pid in [worker, *executors_of(worker)]:
        os.kill(pid, signal.SIGKILL)


def executors_of(worker: int) -> dict[int, str]:
    """The executors of a worker, and their numbers in Spark."""
    found = {}
    for place in Path("/proc").glob("[0-9]*"):
        # Processes end while they are looked at.
        with suppress(OSError):
            parent = int((place / "stat").read_text().rpartition(")")[2].split()[1])
            words = (place / "cmdline").read_text().split("\0") if parent == worker else []
            if "--executor-id" in words:
                found[int(place.name)] = words[words.index("--executor-id") + 1]
    return found


@contextmanager
def spark_cluster(*, strangers: bool = True) -> Iterator[SparkCluster]:
    """A cluster for as long as the block runs; all of its processes end with it.

    Workers that are no ``strangers`` are the driver's user, whose Python nobody else may be able to start.
    """
    apart = strangers and os.getuid() == 0
    place = Path(tempfile.mkdtemp(prefix="tacit-cluster-"))
    place.chmod(0o755)
    lake = place / "lake"
    lake.mkdir()
    lake.chmod(0o777)
    port, page = _free_port(), _free_port()
    address = f"spark://127.0.0.1:{port}"
    started: list[subprocess.Popen[bytes]] = []

    def start(name: str, *words: str) -> int:
        own = place / name
        for each in (own, own / "tmp", own / "work"):
            each.mkdir(mode=0o700)
            if apart:
                os.chown(each, NOBODY, NOBODY)
        as_nobody = ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups"] if apart else []
        options = f"{_SMALL} -Djava.io.tmpdir={own / 'tmp'}"
        own_places = {"TMPDIR": own / "tmp", "SPARK_LOCAL_DIRS": own / "tmp", "SPARK_LOG_DIR": own, "HOME": own}
        environment = _environment() | {each: str(where) for each, where in own_places.items()}
        environment |= {"SPARK_DAEMON_JAVA_OPTS": options, "SPARK_DAEMON_MEMORY": "200m"}
        with (place / f"{name}.log").open("wb") as log:
            command = [*as_nobody, str(_home() / "bin/spark-class"), f"org.apache.spark.deploy.{words[0]}", *words[1:]]
            # A session of its own, so that its executors can be ended with it.
            process = subprocess.Popen(
                command, cwd=own, env=environment, stdout=log, stderr=log, start_new_session=True
            )
        started.append(process)
        return process.pid

    try:
        start("master", "master.Master", "--host", "127.0.0.1", "--port", str(port), "--webui-port", str(page))
        _wait_for(page, 0)
        workers = tuple(
            start(
                *(f"worker{at}", "worker.Worker", "--host", "127.0.0.1", "--cores", "1", "--memory", "1g"),
                *("--webui-port", "0", "--work-dir", str(place / f"worker{at}" / "work"), address),
            )
            for at in range(3)
        )
        _wait_for(page, len(workers))
        yield SparkCluster(address, workers, lake)
    finally:
        for process in reversed(started):
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        shutil.rmtree(place, ignore_errors=True)


def _home() -> Path:
    found = find_spec("pyspark")
    assert found is not None
    assert found.origin is not None
    return Path(found.origin).parent


def _environment() -> dict[str, str]:
    return os.environ | {"SPARK_HOME": str(_home()), "SPARK_LOCAL_IP": "127.0.0.1", "PYSPARK_PYTHON": sys.executable}


def _free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


def _wait_for(page: int, workers: int) -> None:
    """Until the master answers and so many workers are with it."""
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        try:
            with urlopen(f"http://127.0.0.1:{page}/json/", timeout=5) as answer:
                if json.load(answer)["aliveworkers"] >= workers:
                    return
        except OSError:
            pass
        time.sleep(0.2)
    raise TimeoutError(f"the cluster has not {workers} workers after {PATIENCE} seconds")
