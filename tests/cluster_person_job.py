"""A person audited on a cluster, as ``spark-submit`` runs it, and a worker's end while records are joined.

    spark-submit cluster_person_job.py CASE KILLED

``KILLED`` is the worker to end as soon as tasks run after the records were read. The last line of the answer is JSON.
"""

from __future__ import annotations

import json
import sys
import threading
import time
from typing import Any

from spark_cluster import kill_worker
from tacit.person import person_audit
from tacit.tables.engines.spark.sessions import on_this_machine, session


def say(**facts: Any) -> None:
    sys.stdout.write(json.dumps(facts) + "\n")
    sys.stdout.flush()


def killed_in(step: str, worker: int) -> Any:
    """A progress that ends a worker while tasks of a step are running."""
    tracker = session().sparkContext.statusTracker()

    def ended() -> None:
        while True:
            stages = [tracker.getStageInfo(each) for each in tracker.getActiveStageIds()]
            running = sum(each.numActiveTasks for each in stages if each is not None)
            if running > 1:
                kill_worker(worker)
                say(killed=worker, running=running)
                return
            time.sleep(0.01)

    waiting = threading.Thread(target=ended, daemon=True)

    def progress(said: str, _: float | None) -> None:
        sys.stderr.write(f"{said}\n")
        # The driver says so again of the few records that it gets.
        if said == step and waiting.ident is None:
            waiting.start()

    return progress


def main(case: str, worker: int) -> None:
    say(master=session().sparkContext.master, local=on_this_machine())
    audit = person_audit(case, engine="spark", progress=killed_in("joins: resolving", worker))
    say(audit=audit.to_dict())


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
