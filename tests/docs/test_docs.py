"""The documentation is run: its Python, the tutorial's commands and their output, its links and its mentions."""

from __future__ import annotations

import importlib.util
import json
import re
import shlex
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any, cast

import click
import pytest
from threadpoolctl import threadpool_limits

import tacit
from places import ROOT
from sizes import many
from tacit.cli.commands import tacit as command
from tacit.lift import MEASURES
from tacit.release.claims import factors
from tacit.verbs import demo
from tacit.verbs.explain import TERMS

auditing = importlib.import_module("tacit.verbs.audit")
DOCS = ROOT / "docs"
PAGES = sorted([*DOCS.rglob("*.md"), *(ROOT / name for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md"))])
BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
ELISION = "…"


def name_of(page: Path) -> str:
    return str(page.relative_to(ROOT))


def blocks(page: Path, language: str) -> list[str]:
    return [text for found, text in BLOCK.findall(page.read_text("utf-8")) if found == language]


def one_line(text: str) -> str:
    """Text without the accidents of wrapping and alignment."""
    return " ".join(text.split())


@pytest.fixture(scope="module")
def generator() -> ModuleType:
    spec = importlib.util.spec_from_file_location("make_reference", DOCS / "make_reference.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def everything() -> str:
    return "\n".join(page.read_text("utf-8") for page in DOCS.rglob("*.md"))


@pytest.mark.parametrize("name", ["reference/cli.md", "reference/api.md", "glossary.md"])
def test_a_generated_page_is_current(name: str, generator: ModuleType) -> None:
    assert (DOCS / name).read_text("utf-8") == generator.PAGES[name](), "run .venv/bin/python docs/make_reference.py"


@pytest.mark.parametrize("name", [name for name in tacit.__all__ if not name.startswith("_")])
def test_every_public_name_is_documented(name: str, everything: str) -> None:
    assert re.search(rf"`{name}\b", everything)


def commands(group: click.Group, before: str = "") -> Iterator[tuple[str, click.Command]]:
    """Every command with its words: "audit", "person", "person audit"."""
    for name, chosen in group.commands.items():
        yield before + name, chosen
        if isinstance(chosen, click.Group):
            yield from commands(chosen, f"{before}{name} ")


def test_every_command_and_option_is_documented() -> None:
    page = (DOCS / "reference" / "cli.md").read_text("utf-8")
    for name, chosen in commands(command):
        section = page.split(f"## tacit {name}\n", 1)[1].split("\n## ", 1)[0]
        for parameter in chosen.params:
            for written in parameter.opts if parameter.param_type_name == "option" else ():
                assert written in section, f"{written} of tacit {name}"


def test_every_measure_is_in_the_glossary() -> None:
    page = (DOCS / "glossary.md").read_text("utf-8")
    for name, measure in MEASURES.items():
        assert f"`{name}`" in page
        assert measure.title in page
        assert measure.meaning in page


def test_the_glossary_agrees_with_explain() -> None:
    page = one_line((DOCS / "glossary.md").read_text("utf-8"))
    for name, text in TERMS.items():
        assert f"**{name}**: {one_line(text)}" in page


@pytest.mark.parametrize("name", [*TERMS, *MEASURES])
def test_every_name_that_explain_lists_can_be_explained(name: str) -> None:
    assert tacit.explain(name)


def anchors(page: Path) -> set[str]:
    """The anchors of a page's headings, as GitHub makes them."""
    prose = BLOCK.sub("", page.read_text("utf-8"))
    headings = re.findall(r"^#+ (.*)$", prose, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_links_within_the_documentation_lead_somewhere(page: Path) -> None:
    for link in re.findall(r"\]\(([^)\s]+)\)", BLOCK.sub("", page.read_text("utf-8"))):
        if "://" in link:
            continue
        path, _, anchor = link.partition("#")
        target = (page.parent / path).resolve() if path else page
        assert target.exists(), link
        assert not anchor or anchor in anchors(target), link


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_no_page_names_a_package_index(page: Path) -> None:
    text = page.read_text("utf-8")
    assert not re.search(r"index-url|files\.pythonhosted|pypi\.org|artifactory|nexus", text, re.IGNORECASE)


# They learn for seconds what quick tests of estimators, posts, images and vectors hold.
AT_LENGTH = ("learn-log-lift.md", "which-features.md", "text.md", "images.md", "vectors.md", "fairness.md")
# So do blocks with these words, what quick tests of images, posts and adversaries hold.
BLOCKS_AT_LENGTH = (
    "patch=4, scale=8",
    'tacit.attack("release", against="posts.csv")',
    # The tutorial's commands, which are run, once more from Python; `from-python.md` says how, and is run too.
    'tried = attack("release", against=clinic)',
)


@pytest.mark.parametrize(
    "page",
    [
        pytest.param(page, marks=[pytest.mark.long] if page.name in AT_LENGTH else [], id=name_of(page))
        for page in PAGES
        if blocks(page, "python")
    ],
)
def test_the_python_of_a_page_runs(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    namespace: dict[str, object] = {"__name__": "__main__"}
    with threadpool_limits(1):
        for number, text in enumerate(blocks(page, "python"), start=1):
            code = compile(text, f"{name_of(page)}, Python block {number}", "exec")
            if many(0, 1) or not any(words in text for words in BLOCKS_AT_LENGTH):
                exec(code, namespace)


@dataclass(frozen=True)
class Step:
    """A command of the tutorial, the exit code it is to have, and what it is to print."""

    line: str
    exit_code: int
    shown: str


def steps(page: Path) -> Iterator[Step]:
    for text in blocks(page, "console"):
        for part in re.split(r"^\$ ", text, flags=re.MULTILINE)[1:]:
            line, _, shown = part.partition("\n")
            code = re.search(r"# exit (\d+)", line)
            yield Step(line.strip(), int(code[1]) if code else 0, shown)


@dataclass(frozen=True)
class Shell:
    """Lines of the shell in a folder: ``tacit`` is called in this process unless a file is its input or output."""

    folder: Path
    tacit_command: Callable[..., tuple[int, str, str]]

    def run(self, line: str) -> tuple[int, str, str]:
        """Exit code, standard output and standard error."""
        if line.startswith("tacit ") and not {"<", ">"} & set(line):
            return self.tacit_command(*shlex.split(line, comments=True)[1:])
        ours = re.sub(r"^tacit\b", f"'{sys.executable}' -m tacit", line)
        done = subprocess.run(["sh", "-c", ours], cwd=self.folder, capture_output=True, text=True, check=False)
        return done.returncode, done.stdout, done.stderr


@pytest.fixture
def shell(tmp_path: Path, tacit_command: Any, monkeypatch: pytest.MonkeyPatch) -> Iterator[Shell]:
    """On one thread, for many wait for each other on a busy machine."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "120")
    with threadpool_limits(1):
        yield Shell(tmp_path, tacit_command)


@pytest.mark.usefixtures("without_suggestion")
def test_the_demo_runs_without_any_data_and_prints_what_the_tutorial_shows(
    shell: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    # What the demo does with its table, the tutorial does once more.
    monkeypatch.setattr(demo, "SAMPLED", 200)
    first = next(steps(DOCS / "tutorial.md"))
    result = shell.run(first.line)
    shown_by(first, result)
    assert "audit.html" in result[1]
    assert result[2] == ""
    assert json.loads(Path("demo/release/certificate.json").read_text("utf-8"))["kind"] == "counted"
    assert "Learned: what leaks" in Path("demo/audit.html").read_text("utf-8")


def test_the_tutorial_runs_and_prints_what_it_shows(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    first, *done = steps(DOCS / "tutorial.md")
    # Text, the page and the gate have how-tos of their own.
    apart = {"explain-text", "serve", "check"}
    assert {step.line.split()[1] for step in [first, *done] if step.line.startswith("tacit ")} == (
        set(command.commands) - apart
    )
    (shell.folder / "demo").mkdir()
    demo._clinic(shell.folder / "demo")
    # An audit writes nothing: what is shown of it in parts, or in full, needs one.
    monkeypatch.setattr(auditing, "audit", once(auditing.audit))
    for step in done:
        # Adversaries learn from all 20,000 records; quick tests attack smaller tables.
        if many(0, 1) or not step.line.startswith("tacit attack "):
            shown_by(step, shell.run(step.line))


def once(verb: Callable[..., Any]) -> Callable[..., Any]:
    """A verb that is run once for the same words."""
    answers: dict[str, Any] = {}

    def call(source: str, *, progress: Any, **words: Any) -> Any:
        asked = repr((source, sorted(words.items())))
        if asked not in answers:
            answers[asked] = verb(source, progress=progress, **words)
        return answers[asked]

    return call


def shown_by(step: Step, result: tuple[int, str, str]) -> None:
    code, out, err = result
    assert code == step.exit_code, f"$ {step.line}\n{err}"
    printed = one_line(out)
    for piece in map(one_line, step.shown.split(ELISION)):
        assert piece in printed, f"$ {step.line}\ndoes not print: {piece}"


def typed_on(page: Path) -> Iterator[tuple[str, tuple[type[click.UsageError], ...]]]:
    """Every command on a page, and what may be wrong with it: prose may leave out what is typed after an option."""
    text = page.read_text("utf-8")
    for _, block in BLOCK.findall(text):
        yield from ((line, ()) for line in re.findall(r"^\s*(?:\$ )?(tacit [a-z].*)$", block, re.MULTILINE))
    unfinished = (click.MissingParameter, click.BadOptionUsage)
    yield from ((line, unfinished) for line in re.findall(r"`(tacit [a-z][^`<]*)`", BLOCK.sub("", text)))


@pytest.mark.parametrize("page", [page for page in PAGES if "tacit " in page.read_text("utf-8")], ids=name_of)
def test_the_commands_of_a_page_are_understood(page: Path) -> None:
    for line, allowed in typed_on(page):
        # Without its comment, and without the files that it reads or writes.
        words = shlex.split(re.sub(r"(  +|\s[<>#|]).*", "", line))[1:]
        context, chosen = click.Context(command, **command.context_settings), cast(click.Command | None, command)
        try:
            while isinstance(chosen, click.Group) and words:
                _, chosen, words = chosen.resolve_command(context, words)
            assert chosen is not None
            if not isinstance(chosen, click.Group):
                chosen.make_context(chosen.name, words, parent=context)
        except click.UsageError as problem:
            if not isinstance(problem, allowed):
                pytest.fail(f"{line}: {problem.format_message()}")


def test_the_pieces_of_the_case_file_page_are_a_case(tmp_path: Path) -> None:
    tacit.person_init(tmp_path)
    (tmp_path / "zip_counts.csv").write_text("zip,people\nAM1 4QX,20\nAM1 2AB,80\n", "utf-8")
    written = tmp_path / "mine.yaml"
    written.write_text("".join(blocks(DOCS / "howto" / "case-file.md", "yaml")), "utf-8")
    case = tacit.person.read_case(written)
    assert (len(case.sources), len(case.adversaries), len(case.releases)) == (3, 2, 1)


def test_every_command_about_a_person_is_shown_in_its_howto() -> None:
    shown = {step.line.split()[2] for name in ("person.md", "decoys.md") for step in steps(DOCS / "howto" / name)}
    group = command.commands["person"]
    assert isinstance(group, click.Group)
    assert shown == set(group.commands)


def test_every_howto_is_reached_from_another_page() -> None:
    linked = {
        (page.parent / link.partition("#")[0]).resolve()
        for page in PAGES
        for link in re.findall(r"\]\(([^)\s]+\.md[^)\s]*)\)", page.read_text("utf-8"))
        if "://" not in link
    }
    assert {page for page in DOCS.rglob("*.md") if page.name != "README.md"} <= linked


def test_the_factors_of_an_epsilon_are_rounded_as_a_certificate_rounds_them() -> None:
    text = (DOCS / "howto" / "choose-epsilon.md").read_text("utf-8")
    rows = re.findall(r"^\| ([\d.]+) \| × ([\d.]+) \| × ([\d.]+) \| ([\d.]+) % to ([\d.]+) % \|$", text, re.MULTILINE)
    assert len(rows) == 6
    for epsilon, least, most, low, high in rows:
        assert (least, most) == (factors.factor_down(float(epsilon)), factors.factor_up(float(epsilon)))
        assert (float(low), float(high)) == pytest.approx((10 * float(least), 10 * float(most)))
