"""Options from requests: every setting is declared once, and the command line follows."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

import click
from click.core import ParameterSource
from click.shell_completion import CompletionItem

from tacit.cli.wording import COMMAND_LINE, option
from tacit.errors import ArgumentError
from tacit.requests import Request, settings_of
from tacit.requests.names import ENGINES
from tacit.requests.settings import Flag, OneOf, SettingFacts, default_of

Command = TypeVar("Command", bound=Callable[..., Any])


def file_names(_: click.Context, __: click.Parameter, typed: str) -> list[CompletionItem]:
    """Shell completion for tables and other files: the names of files."""
    return [CompletionItem(typed, type="file")]


def format_option(help: str, *formats: str) -> Callable[[Command], Command]:
    """In which form an answer is printed."""
    return click.option(
        "--format", "format_", type=click.Choice(formats), default=formats[0], show_default=True, help=help
    )


quiet_option = click.option("--quiet", "-q", is_flag=True, help="No progress on standard error.")
_JSON = "json prints one JSON object on standard output and nothing else."
shown_options = (format_option(_JSON, "text", "json"), quiet_option)
bits_option = click.option(
    "--bits", is_flag=True, help="Show bits instead of nats. What you enter, such as --epsilon, stays in nats."
)
full_option = click.option("--full", is_flag=True, help="Show every measure and table, not only the first answer.")
report_option = click.option(
    "--report",
    type=click.Path(path_type=Path),
    callback=lambda _, parameter, path: _page(parameter, path),
    help="Write a self-contained HTML page here.",
)


def _page(parameter: click.Parameter, path: Path | None) -> Path | None:
    if path is not None and path.suffix.lower() not in (".html", ".htm"):
        raise click.BadParameter(f"'{path}' does not end in .html", param=parameter)
    return path


def stack(*options: Callable[[Command], Command]) -> Callable[[Command], Command]:
    """Options in one decorator, in the order of the help."""

    def decorate(command: Command) -> Command:
        for each in reversed(options):
            command = each(command)
        return command

    return decorate


def settings(*requests: type[Request], required: Sequence[str] = ()) -> Callable[[Command], Command]:
    """An option for every setting of the requests; one that two requests share appears once."""
    options: dict[str, Callable[[Any], Any]] = {}
    for request in requests:
        for name, facts in settings_of(request).items():
            options.setdefault(name, option_of(name, facts, default_of(request, name), name in required))
    return stack(*options.values())


def option_of(
    name: str, facts: SettingFacts, default: Any = None, required: bool = False
) -> Callable[[Command], Command]:
    """The option for a setting."""
    kind, words = facts.kind, [option(name), *([facts.short] if facts.short else [])]
    if isinstance(kind, Flag):
        return click.option(*words, name, is_flag=True, help=facts.help)
    # The default is shown but not passed: only what was typed counts as given.
    shown = f"{facts.help}  [default: {default}]" if default is not None else facts.help
    return click.option(
        *words,
        name,
        type=click.Choice(kind.words) if isinstance(kind, OneOf) else str,
        multiple=True,
        metavar=None if isinstance(kind, OneOf) else facts.metavar or kind.metavar,
        required=required,
        help=shown,
        callback=lambda _, __, value: _read(name, facts, value),
        shell_complete=None if isinstance(kind, OneOf) else file_names,
    )


def _read(name: str, facts: SettingFacts, value: tuple[str, ...]) -> Any:
    if not value:
        return None
    if len(value) > 1 and not facts.kind.repeated:
        raise click.UsageError(f"give {option(name)} once")
    try:
        return facts.kind.from_text(name, value)
    except ArgumentError as error:
        raise click.UsageError(error.told(COMMAND_LINE)) from None


def typed(words: dict[str, Any]) -> dict[str, Any]:
    """The settings that somebody typed; all others keep the defaults of their requests."""
    context = click.get_current_context()
    return {
        name: value
        for name, value in words.items()
        if context.get_parameter_source(name) is ParameterSource.COMMANDLINE
    }


def answer(verb: Callable[..., Any], about: Any, *, words: dict[str, Any]) -> Any:
    """Call a verb with what was typed, write the page if one was asked for, and show the answer."""
    from tacit import report
    from tacit.cli.showing import show, watched

    # The first engine is the default; another may need pandas, as Splink does in a case.
    if "engine" in words and words["engine"] in (None, next(iter(ENGINES))):
        without_frames()
    shown = ("format_", "bits", "quiet", "report", "full")
    format_, bits, quiet, page, full = (words.pop(name, None) for name in shown)
    with watched(quiet=bool(quiet)) as progress:
        result = verb(about, progress=progress, **typed(words))
    if page is not None:
        report.write_report(result, page, wording=replace(COMMAND_LINE, bits=bool(bits)))
    show(result, format_=str(format_), bits=bool(bits), full=bool(full))
    return result


def without_frames() -> None:
    """Hide pandas from pyarrow, which would load it on first use for half a second; no file is a pandas frame.

    A process that has already loaded either may have frames, and is left alone.
    """
    if "pandas" in sys.modules or "pyarrow" in sys.modules:
        return
    hiding = _PandasHidden()
    sys.meta_path.insert(0, hiding)
    try:
        import pyarrow as pa

        pa.array([0]).to_numpy()
    finally:
        sys.meta_path.remove(hiding)


class _PandasHidden:
    def find_spec(self, fullname: str, path: Any, target: Any = None) -> None:
        if fullname == "pandas":
            raise ModuleNotFoundError(fullname)
