"""A person audited on a cluster, as ``spark-submit`` runs it, and a worker's end while records are joined.

    spark-submit cluster_person_job.py CASE WORKER WORKER WORKER

One of the workers dies when it has a task after the records were read. Every line of the answer is one of JSON.
"""

from __future__ import annotations

import sys

from losing_workers import losing_a_worker, say
from tacit.person import person_audit
from tacit.tables.engines.spark.sessions import on_this_machine, session


def main(case: str, workers: list[int]) -> None:
    say(master=session().sparkContext.master, local=on_this_machine())
    with losing_a_worker("joins: resolving", workers) as progress:
        audit = person_audit(case, engine="spark", progress=progress)
    say(audit=audit.to_dict())


if __name__ == "__main__":
    main(sys.argv[1], [int(each) for each in sys.argv[2:]])
