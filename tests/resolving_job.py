"""Resolution on a cluster whose worker ends on the way, as ``spark-submit`` runs it.

    spark-submit resolving_job.py ATTRIBUTES OUT KILLED

All rounds run on the workers. ``KILLED`` is the worker to end when the rounds have begun and it keeps parts of them.
"""

from __future__ import annotations

import sys
from typing import Any

from linked_databases import CLUSTER_RULES
from losing_workers import say
from spark_cluster import kill_worker
from tacit.person.link.distributed import components, resolved_on_spark
from tacit.tables.engines.spark.keeping import Keeper
from tacit.tables.engines.spark.sessions import session

# Frames that have been kept when the worker ends: keys, links and where they lead are among them.
BEFORE = 6


def main(attributes: str, out: str, worker: int) -> None:
    spark, kept = session(), []
    components.FEW = 0
    keep = Keeper.keep

    def killing(*given: Any) -> Any:
        kept.append(keep(*given))
        if len(kept) == BEFORE:
            kill_worker(worker)
            say(killed=worker, rows=[each.size for each in kept])
        return kept[-1]

    Keeper.keep = killing  # type: ignore[method-assign]
    found = resolved_on_spark(spark.read.parquet(f"file://{attributes}"), CLUSTER_RULES)
    found.write.parquet(f"file://{out}")
    say(frames=len(kept), master=spark.sparkContext.master)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]))
