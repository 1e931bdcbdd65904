"""What a driver does on a cluster, as ``spark-submit`` runs it: the verbs, one after the other, and two workers' ends.

    spark-submit cluster_job.py TABLE PLACE WORKER WORKER WORKER

One of the workers dies when it has a task of the first release, another when it has one of the first release in parts.
Every line of the answer is one of JSON.
"""

from __future__ import annotations

import gzip
import sys
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest

import tacit
from losing_workers import losing_a_worker, say
from sample_results import leave_out_suggestions
from spark_cluster import executors_of
from tacit.document import silent
from tacit.errors import SourceError, TacitError
from tacit.release import ReleaseRules
from tacit.tables import count, open_table
from tacit.tables.engines.spark.sessions import on_this_machine, session

WRITING = "writing the release"


def main(table: str, place: Path, workers: list[int]) -> None:
    spark = session()
    say(master=spark.sparkContext.master, local=on_this_machine())
    skewed = spark.range(0, 1_000_000, 1, 4).selectExpr("CASE WHEN id % 100 = 0 THEN id % 7 ELSE 9 END AS k")
    say(skewed=count(open_table(skewed), ["k"]).records.tolist())
    with pytest.MonkeyPatch.context() as patch:
        leave_out_suggestions(patch)
        say(audit=tacit.audit(table, secret="illness", engine="spark").headline)
    words: dict[str, Any] = {"secret": "illness", "epsilon": 0.5, "random_state": 3, "engine": "spark"}
    with losing_a_worker(WRITING, workers) as progress:
        tacit.protect(table, out=place / "optimal", mechanism="optimal", progress=progress, **words)
    say(verdict=tacit.verify(place / "optimal", against=table, engine="spark").verdict)
    tacit.protect(table, out=place / "cells", mechanism="cells", **words)
    say(verdict=tacit.verify(place / "cells", against=table, engine="spark").verdict)
    private = place / "private.csv.gz"
    private.write_bytes(gzip.compress(b"illness,ward\nnone,1\n"))
    try:
        open_table(private, engine="spark")
    except SourceError as error:
        say(refused=str(error))
    # The workers write themselves, where they may.
    lake = Path(table).parent
    left = [each for each in workers if executors_of(each)]
    for mechanism, losing in (("optimal", losing_a_worker(WRITING, left)), ("cells", nullcontext(silent))):
        out = lake / f"{mechanism} in parts"
        with losing as progress:
            tacit.protect(table, out=out, mechanism=mechanism, parts=True, progress=progress, **words)
        verified = tacit.verify(out, against=table, engine="spark")
        say(parts=verified.verdict if verified.verdict == "holds" else verified.headline)
    try:
        tacit.protect(table, out=place / "unseen", mechanism="optimal", parts=True, **words)
    except TacitError as error:
        say(unseen=str(error))
    # Nor need the driver see where they write, if no certificate is wanted; an address is read as it was given.
    for mechanism in ("optimal", "cells"):
        private = place / mechanism / "private"
        rules, key = ReleaseRules.load(private / "rules.json"), private / "key.txt"
        whole = open_table(f"file://{table}", engine="spark")
        made = rules.of_original(whole, bytes.fromhex(key.read_text()) if key.exists() else bytes(32))
        made.frame.to_native().write.parquet(f"file://{table}.{mechanism}")


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]), [int(each) for each in sys.argv[3:]])
