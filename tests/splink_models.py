"""A model as Splink saves it, for the tests of a case and for the inputs that are damaged."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

LEVEL = {"is_null_level": False, "fix_m_probability": False, "fix_u_probability": False}


def write_splink_model(path: Path, columns: Sequence[str]) -> None:
    """A model by which two records match if they are equal in one of ``columns``."""
    comparisons = [
        {
            "output_column_name": column,
            "comparison_levels": [
                {"sql_condition": f'"{column}_l" IS NULL OR "{column}_r" IS NULL', "is_null_level": True},
                {
                    "sql_condition": f'"{column}_l" = "{column}_r"',
                    "m_probability": 0.99,
                    "u_probability": 1e-7,
                    **LEVEL,
                },
                {"sql_condition": "ELSE", "m_probability": 0.01, "u_probability": 1 - 1e-7, **LEVEL},
            ],
        }
        for column in columns
    ]
    model = {
        "link_type": "dedupe_only",
        "probability_two_random_records_match": 0.01,
        "unique_id_column_name": "unique_id",
        "blocking_rules_to_generate_predictions": [
            {"blocking_rule": f'l."{column}" = r."{column}"', "sql_dialect": "duckdb"} for column in columns
        ],
        "comparisons": comparisons,
        "sql_dialect": "duckdb",
    }
    path.write_text(json.dumps(model), encoding="utf-8")
