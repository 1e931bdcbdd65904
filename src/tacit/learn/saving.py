"""Fitted estimators in files that can be opened safely: names and arrays, never code to be run."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from tacit.errors import ArgumentError, Setting, SourceError, sentence
from tacit.learn.contract import LogLiftEstimator
from tacit.learn.encoding import Features
from tacit.loading import DAMAGE, archive_in, bytes_in, json_of

SUFFIX = ".tacit"
# A file may build these and nothing else. scikit-learn's forests and support vector machines are not among them: they
# would run compiled code on whatever numbers the file holds.
OURS = frozenset(
    f"tacit.learn.{name}"
    for name in (
        *("auto.AutoLogLift", "boosted.deep.BoostedModel", "boosted.quick.TreesModel"),
        *("classifier.ClassifierLogLift", "classifier.ClassifierModel"),
        *("counts.CountLogLift", "crossfitting.smoothing.CountTable", "crossfitting.candidates.NothingLearned"),
        *("crossfitting.crossfit.Ensemble", "crossfitting.crossfit.LearnerScore", "encoding.Encoder"),
        *("crossfitting.absence.Absences", "crossfitting.doubt.Doubt", "crossfitting.doubt.Tail"),
        "grids.model.GridsModel",
        *("linear.LinearModel", "nets.networks.NetworksModel", "nets.neural.NeuralLogLift"),
        *("nets.prefix_net.PrefixNetwork", "nets.prefixes.InputLayout", "nets.prefixes.PrefixLogLift"),
    )
)
PLAIN = frozenset(
    {f"builtins.{name}" for name in ("bool", "dict", "float", "int", "list", "NoneType", "set", "str", "tuple")}
    | {f"numpy.{name}" for name in ("bool", "dtype", "float32", "float64", "int32", "int64", "ndarray", "str_")}
    | {"numpy.random.mtrand.RandomState"}
)
HARMLESS = tuple(
    f"sklearn.{name}."
    for name in (
        *("calibration", "discriminant_analysis", "linear_model", "naive_bayes", "neural_network"),
        *("pipeline", "preprocessing"),
    )
)
# What was kept about the training records stays out of the file: it would give their secrets away.
LEFT_OUT = frozenset({"out_of_fold_log_lift_", "test_log_lift_", "fold_"})


def save_model(estimator: LogLiftEstimator, path: str | Path) -> None:
    """Write a fitted estimator.

    Raises
    ------
    ArgumentError
        If it holds something that could not be loaded safely, such as a classifier of your own.
    """
    from sklearn.utils.validation import check_is_fitted
    from skops import io as skops_io

    check_is_fitted(estimator)
    kept = {name: value for name, value in vars(estimator).items() if name not in LEFT_OUT}
    plain = {"progress": None, "reason_": str(kept.get("reason_"))}
    kept |= {name: value for name, value in plain.items() if name in kept}
    bare = type(estimator).__new__(type(estimator))
    bare.__dict__.update(kept)
    data = skops_io.dumps(bare)
    strange = _strange(data)
    if strange:
        raise ArgumentError(
            f"a model that holds {min(strange)} cannot be saved safely; use one of Tacit's estimators, or a linear "
            "model, a net or naive Bayes from scikit-learn"
        )
    _write_for_the_owner(Path(path), data)


def _write_for_the_owner(path: Path, data: bytes) -> None:
    """A model reveals something about the records it was learned from: nobody else may read it."""
    if path.exists() and not path.is_file():
        raise SourceError(f"cannot write the model {path}: it is not a file")
    try:
        path.touch(mode=0o600)
        path.chmod(0o600)
        path.write_bytes(data)
    except OSError as error:
        raise SourceError(f"cannot write the model {path}: {error.strerror}") from error


def load_model(path: str | Path) -> LogLiftEstimator:
    """Read an estimator that ``save_model`` wrote.

    Guarantees
    ----------
    A file that would build anything but Tacit's estimators, plain data and the harmless parts of scikit-learn is
    refused before anything is built.
    """
    from skops import io as skops_io

    data = bytes_in(path, "model")
    try:
        strange = _strange(data)
        if strange:
            raise SourceError(f"{path} holds {min(strange)}, which no Tacit model does: it is not loaded")
        estimator: Any = skops_io.loads(data, trusted=sorted(OURS))
        if not isinstance(estimator, LogLiftEstimator):
            raise ValueError(f"it holds a {type(estimator).__name__}")
        _try_out(estimator)
    except (*DAMAGE, MemoryError) as error:
        what = str(error).splitlines()[0][:120] if str(error) else ""
        words = "{path} is not a model of this version of Tacit ({kind}: {what}); make it again with {save_model}"
        kind, save_model = type(error).__name__, Setting("save_model")
        raise SourceError(sentence(words, path=path, kind=kind, what=what, save_model=save_model)) from error
    return estimator


def _try_out(estimator: LogLiftEstimator) -> None:
    """Score one record of missing cells, so that parts that do not fit together fail here and not in mid-use."""
    encoder = estimator.encoder_
    of_a_table = bool(encoder.levels)
    columns = [encoder.kinds.count(kind) if of_a_table else 0 for kind in ("number", "category")]
    numbers, codes = np.full((1, columns[0]), np.nan), np.zeros((1, columns[1]), dtype=np.int64)
    wide = None if of_a_table else sparse.csr_array((1, len(encoder.scale)))
    features = Features(numbers, codes, np.zeros(1, dtype=bool), wide)
    lift = estimator._log_lift(features)
    if lift.shape != (1, len(estimator.secrets_)) or len(estimator.prior_) != len(estimator.secrets_):
        raise ValueError("secrets, prior and log-lifts do not fit together")
    if of_a_table and len({len(value) for value in vars(encoder).values()}) > 1:
        raise ValueError("columns and their kinds do not fit together")


def _strange(data: bytes) -> set[str]:
    """What a file would build that is neither Tacit's, nor plain data, nor harmless."""
    with archive_in(data) as archive:
        waiting = [json_of(archive.read("schema.json"))]
    types = set()
    while waiting:
        part = waiting.pop()
        if isinstance(part, dict):
            if isinstance(part.get("__module__"), str):
                types.add(f"{part['__module__']}.{part.get('__class__')}")
            waiting += part.values()
        elif isinstance(part, list):
            waiting += part
    return {name for name in types if name not in OURS | PLAIN and not name.startswith(HARMLESS)}
