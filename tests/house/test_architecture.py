"""The rooms, the front door and the sizes are as DESIGN says."""

from __future__ import annotations

import ast
import importlib
import subprocess
import sys
from pathlib import Path

import pytest

import tacit

SOURCE = Path(tacit.__file__).parent
MODULES = sorted(SOURCE.rglob("*.py"))


def test_the_front_door_is_sorted_complete_and_every_name_opens() -> None:
    assert list(tacit.__all__) == sorted(tacit.__all__)
    for name in tacit.__all__:
        assert getattr(tacit, name) is not None, name


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'sniff'"):
        _ = tacit.sniff


def test_importing_tacit_loads_no_engine_and_no_scikit_learn() -> None:
    code = (
        "import sys, tacit; "
        "heavy = {'sklearn', 'duckdb', 'jax', 'pyspark', 'pandas', 'polars', 'pyarrow', 'narwhals', 'rich', 'jinja2'}; "
        "print(','.join(sorted(heavy & set(sys.modules))))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == ""


def test_the_help_loads_no_numpy() -> None:
    code = (
        "import sys\nsys.argv = ['tacit', '--help']\nfrom tacit.cli import main\n"
        "try:\n    main()\nexcept SystemExit as stop:\n    assert stop.code == 0\n"
        "assert not {'numpy', 'rich', 'duckdb', 'sklearn'} & set(sys.modules), sorted(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)


def test_modules_and_functions_stay_small() -> None:
    for path in MODULES:
        text = path.read_text("utf-8")
        assert text.count("\n") <= 600, path
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                assert node.end_lineno is not None
                first = node.body[0]
                is_docstring = isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant)
                start = node.body[1].lineno if is_docstring and len(node.body) > 1 else first.lineno
                assert node.end_lineno - start + 1 <= 50, f"{path}:{node.name}"


def test_no_module_is_a_drawer_for_odds_and_ends() -> None:
    names = {part for path in MODULES for part in path.relative_to(SOURCE).with_suffix("").parts}
    assert not {"utils", "helpers", "common", "base", "core", "misc"} & names


def test_every_public_function_says_what_it_does() -> None:
    for name in tacit.__all__:
        value = getattr(tacit, name)
        if callable(value):
            assert (value.__doc__ or "").strip(), name


def test_every_error_has_an_exit_code_and_one_base() -> None:
    errors = importlib.import_module("tacit.errors")
    for name, value in vars(errors).items():
        if isinstance(value, type) and issubclass(value, Exception):
            assert issubclass(value, errors.TacitError), name
            assert value.exit_code in (1, 2, 3)
