"""The house is as the design says: rooms, order, cycles, SQL, flags, names, and the types at the front door."""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
import textwrap
from collections import Counter
from collections.abc import Iterable, Iterator
from functools import cache
from importlib import import_module
from pathlib import Path

import pytest

import tacit
from tacit.requests.names import ENGINES
from tacit.tables import FORMATS

SOURCE = Path(tacit.__file__).parent
FILES = sorted(SOURCE.rglob("*.py"))
# Where names stand for what is imported when they are chosen.
CHOICES = "tacit.requests.names"
# A room imports only rooms that stand before it.
ROOMS = (
    *(
        "rooms",
        "errors",
        "loading",
        "document",
        "requests",
        "lift",
        "learn",
        "tables",
        "codes",
        "release",
        "report",
        "lenses",
    ),
    *("person", "verbs", "web", "cli"),
)
PUBLIC = ("requests", "lift", "learn", "tables", "codes", "release", "document", "report", "person")
SQL = re.compile(
    r"\b(SELECT\s|INSERT\s+INTO|DELETE\s+FROM|UPDATE\s+\S+\s+SET|CREATE\s+(OR\s+REPLACE\s+)?(TEMP|TABLE|VIEW)|COPY\s*\()"
    r"|\b((GROUP|ORDER|PARTITION)\s+BY|UNION\s+ALL|(LEFT|RIGHT|INNER|CROSS)\s+JOIN)\b|\b(?i:select\s.+\sfrom\s)"
)
LENSES = ("tacit.lenses.table", "tacit.lenses.images", "tacit.lenses.text", "tacit.lenses.vectors", "tacit.person")
SQL_HOMES = ("tables/engines/", "tables/formats/", "person/link/")
FLAG = re.compile(r"(^|[\s'(`\"])--[a-z]{3}")
# Words of grammar: as a name they do not say what is found, held or told.
GRAMMAR = frozenset(
    mark + word
    for word in ("asked", "found", "given", "held", "made", "picked", "said", "seen", "taken", "told")
    for mark in ("", "_")
)
# How many variables, parameters and private functions may have such a name: none does any more.
MOST_GRAMMAR = 0
# How many names tests take from the insides of rooms. Lower it when some are gone.
MOST_DEEP = 460


def module_of(path: Path) -> str:
    parts = path.relative_to(SOURCE.parent).with_suffix("").parts
    return ".".join(parts).removesuffix(".__init__")


MODULES = {module_of(path): path for path in FILES}


@cache
def tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text("utf-8"))


def only_for_types(node: ast.AST) -> bool:
    return (
        isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test) and "not" not in ast.unparse(node.test)
    )


@cache
def nodes(path: Path) -> tuple[ast.AST, ...]:
    """Every node of a file."""
    return tuple(ast.walk(tree(path)))


@cache
def statements(path: Path) -> tuple[ast.AST, ...]:
    """Every node, lazy imports in functions too, but not what only type checkers read."""

    def below(node: ast.AST) -> Iterator[ast.AST]:
        for child in ast.iter_child_nodes(node):
            if not only_for_types(child):
                yield child
                yield from below(child)

    return tuple(below(tree(path)))


@cache
def imports(module: str) -> frozenset[str]:
    """The modules that a module imports when it, or anything in it, runs."""
    found = set()
    for node in statements(MODULES[module]):
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "tacit":
            for alias in node.names:
                inner = f"{node.module}.{alias.name}"
                found.add(inner if inner in MODULES else str(node.module))
        elif isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names if alias.name in MODULES}
    # The package holds the version and the front door, which loads on demand.
    return frozenset(found - {module, "tacit"})


def taken(module: str) -> Iterator[tuple[str, str]]:
    """Every name that a module takes from a package of ours, and the package; modules are not names."""
    for node in statements(MODULES[module]):
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "tacit":
            for alias in node.names:
                if f"{node.module}.{alias.name}" not in MODULES:
                    yield str(node.module), alias.name


@cache
def texts(path: Path) -> tuple[tuple[int, str], ...]:
    """The strings of a file that are not docstrings."""
    docstrings = set()
    for node in nodes(path):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef) and node.body:
            first = node.body[0]
            if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant):
                docstrings.add(id(first.value))
    return tuple(
        (node.lineno, node.value)
        for node in nodes(path)
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in docstrings
    )


def test_a_room_imports_only_rooms_before_it_lazily_or_not() -> None:
    place = {room: number for number, room in enumerate(ROOMS)}
    for module in MODULES:
        room = module.split(".")[1] if "." in module else ""
        if room not in place:
            continue
        for other in imports(module):
            assert place[other.split(".")[1]] <= place[room], f"{module} imports {other}"


def test_imports_say_where_from() -> None:
    """Not by dots, and not by the front door, which opens every room: else the order of rooms could not be seen."""
    for module, path in MODULES.items():
        for node in statements(path):
            if isinstance(node, ast.ImportFrom):
                assert not node.level, f"{module}:{node.lineno}"
            if isinstance(node, ast.Import) and module != "tacit.__main__":
                assert "tacit" not in {alias.name for alias in node.names}, f"{module}:{node.lineno}"
        doors = {name for package, name in taken(module) if package == "tacit"}
        assert doors <= {"__version__"}, f"{module} takes {doors} from the front door"


def test_a_module_named_in_a_text_is_of_a_room_before_it_but_for_choices() -> None:
    place = {room: number for number, room in enumerate(ROOMS)}
    for module, path in MODULES.items():
        for line, text in texts(path) if module not in (CHOICES, "tacit") else ():
            named = text.split(":")[0]
            if named.startswith("tacit.") and named in MODULES:
                assert place[named.split(".")[1]] <= place[module.split(".")[1]], f"{module}:{line} names {named}"


def test_no_module_takes_names_from_the_face_of_a_package_it_is_in() -> None:
    """The face loads its names from such modules, so that would be a cycle which loading on first use hides."""
    for module in MODULES:
        for package, name in taken(module):
            inside = package != "tacit" and module.startswith(f"{package}.")
            assert not inside, f"{module} takes {name} from {package}"


def test_every_room_is_in_the_order() -> None:
    rooms = {module.split(".")[1] for module in MODULES if "." in module} - {"__main__"}
    assert rooms == set(ROOMS)


def test_no_module_imports_itself_by_a_detour() -> None:
    state: dict[str, int] = {}

    def visit(module: str, path: tuple[str, ...]) -> None:
        state[module] = 1
        for other in imports(module):
            # A package's face re-exports its modules, which may import the face's neighbours; that is no cycle.
            assert state.get(other) != 1, " -> ".join([*path, module, other])
            if other not in state:
                visit(other, (*path, module))
        state[module] = 2

    for module in MODULES:
        if module not in state:
            visit(module, ())


@pytest.mark.parametrize("lens", LENSES)
def test_no_lens_imports_another_nor_does_what_they_share(lens: str) -> None:
    for module in MODULES:
        if module.startswith(("tacit.lenses.", "tacit.person.")) and not f"{module}.".startswith(f"{lens}."):
            assert not any(f"{each}.".startswith(f"{lens}.") for each in imports(module)), module


def test_sql_is_written_in_its_homes_alone() -> None:
    for path in FILES:
        where = path.relative_to(SOURCE).as_posix()
        if not where.startswith(SQL_HOMES):
            for line, text in texts(path):
                assert not SQL.search(text), f"{where}:{line}"


def test_no_engine_is_asked_for_its_name_outside_the_engines() -> None:
    for path in FILES:
        where = path.relative_to(SOURCE).as_posix()
        if where.startswith("tables/engines/"):
            continue
        for node in nodes(path):
            if isinstance(node, ast.Compare | ast.MatchValue):
                compared = {each.value for each in ast.walk(node) if isinstance(each, ast.Constant)}
                assert not compared & set(ENGINES), f"{where}:{node.lineno}"


def test_no_format_is_asked_for_its_name_outside_the_formats() -> None:
    for path in FILES:
        where = path.relative_to(SOURCE).as_posix()
        if where.startswith("tables/formats/"):
            continue
        for node in nodes(path):
            if isinstance(node, ast.Compare) and re.search(r"\bformat\b", ast.unparse(node)):
                compared = {each.value for each in ast.walk(node) if isinstance(each, ast.Constant)}
                assert not compared & set(FORMATS), f"{where}:{node.lineno}"


def test_no_text_outside_the_command_line_names_a_flag() -> None:
    for path in FILES:
        where = path.relative_to(SOURCE).as_posix()
        if not where.startswith("cli/"):
            for line, text in texts(path):
                assert not FLAG.search(text), f"{where}:{line}: {text}"


def test_class_names_exist_once() -> None:
    names = Counter(
        node.name
        for path in FILES
        for node in nodes(path)
        if isinstance(node, ast.ClassDef) and not node.name.startswith("_")
    )
    assert [name for name, times in names.items() if times > 1] == []


def grammar_in(nodes: Iterable[ast.AST]) -> list[tuple[int, str]]:
    """Variables, parameters and private functions that are called by a word of grammar; fields and methods are not."""
    bound: list[ast.Name | ast.arg | ast.FunctionDef] = []
    fields = set()
    for node in nodes:
        kind = type(node)
        if kind is ast.Name:
            bound += [node] if node.id in GRAMMAR and type(node.ctx) is ast.Store else []
        elif kind is ast.arg:
            bound += [node] if node.arg in GRAMMAR else []
        elif kind is ast.FunctionDef:
            bound += [node] if node.name[0] == "_" and node.name in GRAMMAR else []
        elif kind is ast.ClassDef:
            fields |= {id(line.target) for line in node.body if type(line) is ast.AnnAssign}
    names = ((node, getattr(node, "id", getattr(node, "arg", getattr(node, "name", "")))) for node in bound)
    return [(node.lineno, name) for node, name in names if id(node) not in fields]


def test_names_say_what_they_hold_and_not_that_they_do() -> None:
    sample = "class A:\n told: int\n def told(self): ...\ndef _found(held):\n seen = [made for made in held]"
    assert [name for _, name in grammar_in(ast.walk(ast.parse(sample)))] == ["_found", "held", "seen", "made"]
    places = [f"{path.relative_to(SOURCE)}:{line} {name}" for path in FILES for line, name in grammar_in(nodes(path))]
    assert len(places) <= MOST_GRAMMAR, places


def test_tests_import_public_names_and_few_others() -> None:
    """A name that a public room shows is taken from there, but for tests that try the insides of one file."""
    public = {"tacit", "tacit.errors", *(f"tacit.{room}" for room in PUBLIC)}
    deep = {
        (node.module, alias.name)
        for path in sorted(Path(__file__).parent.parent.rglob("*.py"))
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "tacit"
        for alias in node.names
        if node.module not in public and f"{node.module}.{alias.name}" not in MODULES
    }
    assert len(deep) <= MOST_DEEP, len(deep)


def test_folders_are_ideas_and_not_drawers() -> None:
    for folder in {path.parent for path in FILES}:
        stems = [path.stem for path in folder.glob("*.py") if path.stem != "__init__"]
        assert len(stems) <= 15, folder
        prefixes = Counter(stem.split("_")[0] for stem in stems if "_" in stem)
        assert all(times < 3 for times in prefixes.values()), (folder, prefixes)


def test_no_line_is_kept_from_the_formatter() -> None:
    for path in FILES:
        assert not re.search(r"fmt: (skip|off)", path.read_text("utf-8")), path


@pytest.mark.parametrize("room", ["", *PUBLIC])
def test_no_public_name_is_that_of_a_file_beside_it(room: str) -> None:
    # Importing the file would put the module in the place of the name.
    face = f"tacit.{room}".rstrip(".")
    beside = {module.removeprefix(f"{face}.") for module in MODULES if module.startswith(f"{face}.")}
    assert not beside & set(import_module(face).__all__)


@pytest.mark.parametrize(
    "room", [*PUBLIC, *(f"lenses.{lens}" for lens in ("table", "images", "text", "vectors", "coded"))]
)
def test_every_public_room_says_what_is_public_and_it_is_documented(room: str) -> None:
    face = import_module(f"tacit.{room}")
    assert face.__doc__
    reference = (SOURCE.parent.parent / "docs" / "reference" / "api.md").read_text("utf-8")
    for name in face.__all__:
        assert getattr(face, name) is not None, name
        assert re.search(rf"`{re.escape(name)}\b", reference), f"tacit.{room}.{name} is not in docs/reference/api.md"


def test_the_front_door_has_about_fifty_names_and_type_checkers_see_the_same() -> None:
    assert 45 <= len(tacit.__all__) <= 64
    seen = set()
    for node in tree(SOURCE / "__init__.py").body:
        if only_for_types(node):
            seen |= {
                alias.asname or alias.name
                for inner in ast.walk(node)
                if isinstance(inner, ast.ImportFrom)
                for alias in inner.names
            }
    assert seen == set(tacit.__all__) - {"__version__"}


@pytest.mark.types
@pytest.mark.parametrize(
    ("line", "complaint"),
    [
        ('reveal_type(tacit.audit("p.csv", secret="race"))', "AuditResult"),
        ('reveal_type(tacit.audit("p.csv", text="post", secret="party"))', "TextAuditResult"),
        ('reveal_type(tacit.audit("p.parquet", vector="emb", secret="race"))', "VectorAuditResult"),
        ('reveal_type(tacit.protect("p.csv", secret="race", epsilon=0.5, out="r").certificate)', "Certificate"),
        ('reveal_type(tacit.audit("v.npy", vector="v", labels="l.csv", secret="race"))', "VectorAuditResult"),
        ('reveal_type(tacit.protect("v.npz", vector="v", secret="race", ceiling=0.6))', "CodedProtectResult"),
        ('tacit.audit("p.csv", secrte="race")', "No overload variant"),
        ('tacit.audit("p.csv", secret="race").nonsense', 'has no attribute "nonsense"'),
        ('tacit.verify("release", aganst="p.csv")', "Unexpected keyword argument"),
        ("tacit.nonsense", 'has no attribute "nonsense"'),
        ('tacit.Question("p.csv", secret=5)', "incompatible type"),
    ],
)
def test_type_checkers_know_the_front_door(line: str, complaint: str, complaints: dict[str, str]) -> None:
    assert complaint in complaints[line]


@pytest.fixture(scope="module")
def complaints(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """What mypy --strict says of each of the lines above, in one run."""
    marks = next(mark for mark in test_type_checkers_know_the_front_door.pytestmark if mark.name == "parametrize")
    lines = [line for line, _ in marks.args[1]]
    script = tmp_path_factory.mktemp("types") / "script.py"
    script.write_text("import tacit\n" + "\n".join(lines) + "\n")
    command = [sys.executable, "-m", "mypy", "--strict", "--config-file", "pyproject.toml", str(script)]
    env = {**os.environ, "MYPYPATH": "src"}
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=env, cwd=SOURCE.parent.parent)
    said: dict[str, str] = dict.fromkeys(lines, "")
    for place, message in re.findall(r"script\.py:(\d+): (.*)", done.stdout):
        said[lines[int(place) - 2]] += message
    assert done.returncode == 1, textwrap.shorten(done.stdout + done.stderr, 1000)
    return said


# What a named tuple and the system document, and Spark's way to its own Java.
SPOKEN_OF = {"_replace", "_exit"}
SPARK = {"_jsc", "_jdf", "_jvm", "_jsparkSession", "_getJavaStorageLevel"}


def names_made(source: Iterable[ast.AST]) -> Iterator[str]:
    """Names that a module defines or sets."""
    for node in source:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield node.name
        elif isinstance(node, ast.Name | ast.Attribute) and isinstance(node.ctx, ast.Store):
            yield node.id if isinstance(node, ast.Name) else node.attr


def private_names_read(source: Iterable[ast.AST]) -> Iterator[str]:
    """Private attributes that a module reads, by a dot, by their name in a text, or from a private module."""
    for node in source:
        if isinstance(node, ast.Attribute):
            name = node.attr
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "getattr":
            name = node.args[1].value if isinstance(node.args[1], ast.Constant) else ""
        elif isinstance(node, ast.ImportFrom) and (node.module or "").startswith("sklearn"):
            name = next((part for part in (node.module or "").split(".") if part.startswith("_")), "")
        else:
            continue
        if name.startswith("_") and not name.startswith("__"):
            yield name


def test_no_module_reads_private_attributes_of_another_package() -> None:
    """Such as scikit-learn's trees. A private name that Tacit itself gives to something is taken for its own."""
    ours = {name for path in FILES for name in names_made(nodes(path))} | SPOKEN_OF
    for path in FILES:
        allowed = ours | (SPARK if "tables/engines/spark" in path.as_posix() else set())
        assert not set(private_names_read(nodes(path))) - allowed, path
    for line in (
        "grown = boosting._predictors",
        "start = getattr(boosting, '_baseline_prediction')",
        "from sklearn.ensemble._hist_gradient_boosting.grower import TreeGrower",
    ):
        assert set(private_names_read(ast.walk(ast.parse(line)))) - ours, line
