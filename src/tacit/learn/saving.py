"""Fitted estimators in files that can be opened safely: names and arrays, never code to be run."""

from __future__ import annotations

import zipfile
from pathlib import Path
from typing import Any

from tacit.errors import ArgumentError, SourceError
from tacit.learn.contract import LogLiftEstimator

SUFFIX = ".tacit"
# A file may build these and scikit-learn's own estimators, and nothing else.
TRUSTED = frozenset(
    {
        "functools.partial",
        "sklearn.ensemble._hist_gradient_boosting.predictor.TreePredictor",
        "sklearn.tree._tree.Tree",
        "sklearn.utils.validation.check_array",
        "tacit.learn.auto.AutoLogLift",
        "tacit.learn.candidates.NothingLearned",
        "tacit.learn.classifier.ClassifierLogLift",
        "tacit.learn.classifier.ClassifierModel",
        "tacit.learn.counts.CountLogLift",
        "tacit.learn.counts.CountTable",
        "tacit.learn.crossfit.Candidate",
        "tacit.learn.crossfit.Ensemble",
        "tacit.learn.encoding.Encoder",
        "tacit.learn.linear.LinearModel",
        "tacit.learn.net.Network",
        "tacit.learn.net.Networks",
        "tacit.learn.neural.NeuralLogLift",
        "tacit.learn.trees.TreeModel",
    }
)
# A model of a table of people is some megabytes; a file that unpacks to more than this is not one.
MOST_BYTES = 2**31


def save_model(estimator: LogLiftEstimator, path: str | Path) -> None:
    """Write a fitted estimator.

    Raises
    ------
    ArgumentError
        If it holds something that could not be loaded safely, such as a classifier of one's own making.
    """
    from sklearn.utils.validation import check_is_fitted
    from skops import io

    check_is_fitted(estimator)
    kept = {name: value for name, value in vars(estimator).items() if name not in LEFT_OUT}
    bare = type(estimator).__new__(type(estimator))
    bare.__dict__.update(kept, **({"progress": None} if "progress" in kept else {}))
    data = io.dumps(bare)
    strange = set(io.get_untrusted_types(data=data)) - TRUSTED
    if strange:
        raise ArgumentError(
            f"a model that holds {min(strange)} cannot be saved safely; use one of Tacit's estimators or a classifier "
            "of scikit-learn's"
        )
    Path(path).write_bytes(data)


# What was kept about the training records stays out of the file: it would give their secrets away.
LEFT_OUT = frozenset({"out_of_fold_log_lift_", "test_log_lift_", "fold_"})


def load_model(path: str | Path) -> LogLiftEstimator:
    """Read an estimator that ``save_model`` wrote.

    Guarantees
    ----------
    A file that would build anything but Tacit's and scikit-learn's estimators is refused before anything is built.
    """
    from skops import io

    try:
        data = Path(path).read_bytes()
    except OSError as error:
        raise SourceError(f"cannot read the model {path}: {error.strerror}") from error
    try:
        _refuse_bombs(path)
        strange = set(io.get_untrusted_types(data=data)) - TRUSTED
        if strange:
            raise SourceError(f"{path} holds {min(strange)}, which no model of Tacit's does: it is not loaded")
        estimator: Any = io.loads(data, trusted=sorted(TRUSTED))
    except (zipfile.BadZipFile, ValueError, KeyError, TypeError, AttributeError, EOFError, OSError) as error:
        raise SourceError(
            f"{path} is not a model of this Tacit's ({type(error).__name__}: {error}); make it anew with --save-model"
        ) from error
    if not isinstance(estimator, LogLiftEstimator) or not hasattr(estimator, "encoder_"):
        raise SourceError(f"{path} is not a model of Tacit's but a {type(estimator).__name__}")
    return estimator


def _refuse_bombs(path: str | Path) -> None:
    with zipfile.ZipFile(path) as archive:
        if sum(part.file_size for part in archive.infolist()) > MOST_BYTES:
            raise SourceError(f"{path} unpacks to more than {MOST_BYTES // 2**30} GB: it is not a model of Tacit's")
