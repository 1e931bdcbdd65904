"""scikit-learn's own checks of estimators: in the short form some of them, evenly spread."""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest
from sklearn.utils.estimator_checks import estimator_checks_generator

from sizes import few


def some_checks(*estimators: Any, keep: int) -> pytest.MarkDecorator:
    """Parameters ``estimator`` and ``check``: at most ``keep`` of all checks of all estimators, or all."""
    every = [each for estimator in estimators for each in estimator_checks_generator(estimator)]
    return pytest.mark.parametrize(("estimator", "check"), few(every, keep), ids=_named)


def _named(part: Any) -> str:
    return str(part.func.__name__) if isinstance(part, partial) else type(part).__name__
