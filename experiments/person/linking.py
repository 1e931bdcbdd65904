"""Clusters by Splink's probabilistic model, trained on the records themselves without knowing the truth."""

from __future__ import annotations

import logging
import warnings

from experiments.person.people import People

# Blocking for the prediction, and the two passes of expectation maximisation, per set.
BLOCKS = {
    "febrl3": (("given_name", "surname"), ("date_of_birth",), ("soc_sec_id",), ("postcode", "surname")),
    "historical_50k": (("first_name", "surname"), ("dob", "surname"), ("dob", "postcode_fake"),
                       ("postcode_fake", "first_name")),
}  # fmt: skip
PASSES = {
    "febrl3": (("date_of_birth",), ("given_name", "surname")),
    "historical_50k": (("dob",), ("first_name", "surname")),
}
# Compared letter by letter; other columns are equal or not.
FUZZY = {"given_name", "surname", "first_name", "address_1", "suburb", "date_of_birth", "dob", "soc_sec_id",
         "postcode", "postcode_fake", "birth_place"}  # fmt: skip
THRESHOLD = 0.99


def splink_clusters(people: People) -> list[int]:
    """The cluster of every record."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return _clusters(people)


def _clusters(people: People) -> list[int]:
    import pandas as pd
    import splink.comparison_library as compare
    from splink import DuckDBAPI, Linker, SettingsCreator, block_on

    logging.getLogger("splink").setLevel(logging.ERROR)
    rows = pd.DataFrame(
        [{"unique_id": at} | {a.label: a.value for a in record} for at, record in enumerate(people.records)]
    )
    columns = [column for column in rows.columns if column != "unique_id"]
    settings = SettingsCreator(
        link_type="dedupe_only",
        comparisons=[
            compare.JaroWinklerAtThresholds(c, [0.95, 0.88]) if c in FUZZY else compare.ExactMatch(c) for c in columns
        ],
        blocking_rules_to_generate_predictions=[block_on(*labels) for labels in BLOCKS[people.name]],
    )
    linker = Linker(DuckDBAPI().register(rows), settings, log_level=logging.ERROR)
    linker.training.estimate_probability_two_random_records_match(
        [block_on(*labels) for labels in people.rules], recall=0.8
    )
    linker.training.estimate_u_using_random_sampling(max_pairs=2e6, seed=1)
    for labels in PASSES[people.name]:
        linker.training.estimate_parameters_using_expectation_maximisation(block_on(*labels))
    pairs = linker.inference.predict(threshold_match_probability=THRESHOLD)
    found = linker.clustering.cluster_pairwise_predictions_at_threshold(pairs, THRESHOLD).as_pandas_dataframe()
    by_record = dict(zip(found["unique_id"], found["cluster_id"], strict=True))
    return [int(by_record[at]) for at in range(len(rows))]
