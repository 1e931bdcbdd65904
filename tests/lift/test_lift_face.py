"""The public face of lift: every name opens, functions are not hidden by files, and nothing heavy is loaded."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

from places import ROOT
from tacit import lift


def test_every_name_opens_and_none_is_a_file() -> None:
    assert len(lift.__all__) == len(set(lift.__all__))
    for name in lift.__all__:
        assert not isinstance(getattr(lift, name), ModuleType), name


def test_a_name_that_is_not_there_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'optimum'"):
        _ = lift.optimum


def test_functions_are_functions_whatever_was_imported_before() -> None:
    code = (
        "import sys\nfrom importlib import import_module\n"
        "for first in ('tacit.lift.solvers.ladder', 'tacit.lift.partitions.search', 'tacit.lift.tradeoff'):\n"
        "    for name in [name for name in sys.modules if name.split('.')[0] == 'tacit']:\n"
        "        del sys.modules[name]\n"
        "    import_module(first)\n"
        "    from tacit.lift import assignment, chain, funnel, optimal, partition, promises\n"
        "    assert all(map(callable, (assignment, chain, funnel, optimal, partition, promises)))"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_importing_lift_loads_numpy_and_no_scipy() -> None:
    code = "import sys, tacit.lift; assert not any(name.startswith('scipy') for name in sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.mark.types
def test_a_type_checker_knows_the_names_and_refuses_others(tmp_path: Path) -> None:
    user = tmp_path / "user.py"
    user.write_text(
        "from tacit.lift import Joint, certify_counts, optimal, partition\n"
        "reveal_type(optimal(Joint.from_counts([[1, 2], [3, 4]]), 0.5))\n"
        "from tacit.lift import optimum\n"
    )
    # As `make check` asks, so that what it found out is not found out again.
    command = [sys.executable, "-m", "mypy", "--strict", "--config-file=pyproject.toml", str(user)]
    env = {**os.environ, "MYPYPATH": "src"}
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=env, cwd=ROOT)
    assert 'Revealed type is "tacit.lift.solvers.mixture.MixtureChannel"' in done.stdout
    assert [line for line in done.stdout.splitlines() if ": error:" in line and "user.py:1" in line] == []
    assert 'has no attribute "optimum"' in done.stdout
