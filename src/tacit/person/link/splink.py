"""Records joined by a trained Splink model: an optional adversary that weighs evidence instead of following rules."""

from __future__ import annotations

import logging
import re
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from tacit.errors import ArgumentError, EngineError, SourceError
from tacit.loading import bytes_in, json_of
from tacit.person.link.attributes import IntArray

if TYPE_CHECKING:
    import pyarrow as pa

# The columns Splink needs in addition to those of the model; no label has these names.
RECORD = "tacit_record"
SOURCE = "tacit_source"


def _settings(model: Path) -> dict[str, Any]:
    """The settings that Splink saved, for a table with the record's number instead of its own id."""
    data = bytes_in(model, "Splink model")
    try:
        saved = json_of(data)
    except ValueError as error:
        raise SourceError(
            f"{model} is not JSON: save the model with Splink's linker.misc.save_model_to_json"
        ) from error
    if not isinstance(saved, dict) or "comparisons" not in saved:
        raise SourceError(f"{model} has no 'comparisons': save it with Splink's linker.misc.save_model_to_json")
    if not all(isinstance(each.get("sql_condition", ""), str) for each in _levels(saved, model)):
        raise SourceError(f"{model} has a 'sql_condition' that is not text: save the model with Splink again")
    return {
        **saved,
        "unique_id_column_name": RECORD,
        "source_dataset_column_name": SOURCE,
        "additional_columns_to_retain": [],
        "retain_matching_columns": False,
        "retain_intermediate_calculation_columns": False,
    }


def splink_pairs(records: pa.Table, model: Path, threshold: float) -> tuple[IntArray, IntArray]:
    """The pairs of records that a model takes to be one person's with at least the threshold's probability.

    ``records`` has one row per record: ``tacit_record`` (its number), ``tacit_source``, and a column for every label.
    The ``model`` is what ``linker.misc.save_model_to_json`` wrote; its columns are labels of the case. Returns the
    number of the left and of the right record of each pair.
    """
    settings = _settings(model)
    _check_columns(settings, records.column_names, model)
    import duckdb

    try:
        from splink import DuckDBAPI, Linker
    except ImportError as error:
        raise EngineError("resolving with Splink needs splink: pip install 'tacit[link]'") from error
    tables = _tables(records, settings)
    with _quiet():
        try:
            # A separate database in memory: Splink leaves tables behind, and a model is SQL, which must not read files.
            api = DuckDBAPI(duckdb.connect(config={"enable_external_access": "false"}))
            linker = Linker([api.register(part) for part in tables], settings, log_level="ERROR")
            scored = linker.inference.predict(threshold_match_probability=threshold).as_duckdbpyrelation()
            pairs = scored.project(f"{RECORD}_l AS l, {RECORD}_r AS r").to_arrow_table()
        except Exception as error:  # noqa: BLE001 - whatever Splink raises is reported as one error
            # Its message may hold values of people, so only its type is reported.
            raise EngineError(
                f"Splink could not use {model} ({type(error).__name__}): check that it was trained on columns with the "
                "names of the case's labels"
            ) from None
    return pairs.column("l").to_numpy().astype(np.int64), pairs.column("r").to_numpy().astype(np.int64)


def _tables(records: pa.Table, settings: dict[str, Any]) -> list[pa.Table]:
    """One table, or one per source for a model that links tables."""
    import pyarrow.compute as pc

    if settings.get("link_type", "dedupe_only") == "dedupe_only":
        return [records.drop_columns([SOURCE])]
    names = pc.unique(records[SOURCE]).to_pylist()
    if len(names) < 2:
        raise ArgumentError("the Splink model links tables, and there is one source only: train it with 'dedupe_only'")
    return [records.filter(pc.equal(records[SOURCE], name)) for name in names]


def _levels(settings: dict[str, Any], model: Path) -> list[dict[str, Any]]:
    """Every level of every comparison."""
    try:
        levels = [level for comparison in settings["comparisons"] for level in comparison.get("comparison_levels", ())]
    except (TypeError, AttributeError) as error:
        raise SourceError(f"{model} has 'comparisons' that are none: save the model with Splink again") from error
    if not all(isinstance(level, dict) for level in levels):
        raise SourceError(f"{model} has 'comparison_levels' that are none: save the model with Splink again")
    return levels


def _check_columns(settings: dict[str, Any], names: list[str], model: Path) -> None:
    """Refuse a model that compares columns which are not labels."""
    conditions = (level.get("sql_condition", "") for level in _levels(settings, model))
    wanted = {name for condition in conditions for name in re.findall(r'"([^"]+)_[lr]"', condition)}
    if missing := sorted(wanted - set(names)):
        raise ArgumentError(
            f"the Splink model {model} compares '{missing[0]}', which no source of the case has: rename the columns of "
            "the sources (map) to what the model was trained on"
        )


@contextmanager
def _quiet() -> Iterator[None]:
    """Silence Splink's messages about progress and about parameters that were not trained."""
    logger = logging.getLogger("splink")
    level = logger.level
    logger.setLevel(logging.CRITICAL)
    try:
        with warnings.catch_warnings(action="ignore"):
            yield
    finally:
        logger.setLevel(level)
