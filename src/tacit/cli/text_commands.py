"""``audit`` and ``protect`` where --text names a column of posts, and ``explain-text``: the same words for text."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
from click.core import ParameterSource

from tacit.cli.options import split_names, stack

# Words that mean the same for text as for tables.
_SHARED = {
    *("table", "secret", "epsilon", "page", "save_model", "out", "overwrite", "keep_secret", "random_state"),
    *("engine", "format_", "bits", "quiet"),
}
_OWN = ("text", "top", "min_count", "keep", "mask", "generalise", "rare", "bound")

_text_option = click.option("--text", metavar="COL", help="Posts: the column with their text; its words are audited.")
_min_count_option = click.option(
    "--min-count", type=click.IntRange(min=1), default=5, show_default=True,
    help="Posts: leave out words that fewer posts have.",
)  # fmt: skip

text_audit_options = stack(
    _text_option,
    click.option(
        "--top", type=click.IntRange(min=1), default=30, show_default=True, help="Posts: terms listed for each secret."
    ),
    _min_count_option,
)

text_protect_options = stack(
    _text_option,
    click.option(
        "--keep", multiple=True, callback=split_names, help="Posts: release this other column too, as it is."
    ),
    click.option("--mask", default="▇", show_default=True, help="Posts: what takes the place of a word."),
    click.option("--generalise", is_flag=True, help="Posts: hidden hashtags become #tag, mentions @someone."),
    click.option(
        "--rare", type=click.Choice(["keep", "mask"]), default="keep", show_default=True,
        help="Posts: what becomes of words too rare to be judged.",
    ),
    click.option(
        "--bound", type=click.Choice(["post", "term"]), default="post", show_default=True,
        help="Posts: whether epsilon is for what is shown of a post, or for one word after those before it.",
    ),
    _min_count_option,
)  # fmt: skip


def taken(words: dict[str, Any]) -> dict[str, Any] | None:
    """Take the words for text out of all words; None if the question is about a table."""
    context = click.get_current_context()
    own = {name: words.pop(name) for name in _OWN if name in words}
    text = own["text"] is not None
    for parameter in context.command.params:
        name = parameter.name or ""
        if context.get_parameter_source(name) is not ParameterSource.COMMANDLINE:
            continue
        if text and name not in (*_SHARED, *_OWN):
            raise click.UsageError(f"{parameter.opts[-1]} is not for posts (--text): leave it out")
        if not text and name in _OWN:
            raise click.UsageError(
                f"{parameter.opts[-1]} is for posts: name the column with their text (--text COLUMN)"
            )
    return own if text else None


def _secret(secret: tuple[str, ...] | None) -> str:
    if not secret or len(secret) > 1:
        raise click.UsageError("name one column that is secret: --secret COLUMN")
    return secret[0]


def audit_posts(source: str, page: Path | None, words: dict[str, Any]) -> int:
    """Audit posts; exit code 1 if one is riskier than epsilon."""
    from tacit import report
    from tacit.cli.showing import show, watched
    from tacit.workflows.text_auditing import audit_text as run

    with watched(quiet=words["quiet"]) as progress:
        result = run(
            source, text=words["text"], secret=_secret(words["secret"]), epsilon=words["epsilon"], top=words["top"],
            min_count=words["min_count"], save_model=words["save_model"], random_state=words["random_state"],
            engine=words["engine"], progress=progress,
        )  # fmt: skip
    if page is not None:
        report.write_report(result, page)
    show(result, format_=words["format_"], bits=words["bits"])
    return int(words["epsilon"] is not None and result.largest_risk > words["epsilon"])


def protect_posts(source: str, words: dict[str, Any]) -> int:
    """Mask posts; exit code 0 when the release is written."""
    from tacit.cli.showing import show, watched
    from tacit.workflows.text_protecting import protect_text as run

    if words["epsilon"] is None:
        raise click.UsageError("say how much a post may say: --epsilon NATS, such as 0.5")
    with watched(quiet=words["quiet"]) as progress:
        result = run(
            source, text=words["text"], secret=_secret(words["secret"]), epsilon=words["epsilon"], out=words["out"],
            bound=words["bound"], keep=words["keep"], keep_secret=words["keep_secret"], mask=words["mask"],
            generalise=words["generalise"], rare=words["rare"], min_count=words["min_count"],
            overwrite=words["overwrite"], random_state=words["random_state"], engine=words["engine"],
            progress=progress,
        )  # fmt: skip
    show(result, format_=words["format_"], bits=words["bits"])
    return 0


@click.command("explain-text")
@click.option(
    "--model",
    type=click.Path(path_type=Path),
    metavar="FILE.tacit",
    required=True,
    help="What tacit audit --text ... --save-model saved.",
)
@click.option("--epsilon", type=float, help="Exit 1 if any post is riskier than this many nats.")
@click.option("--whole", is_flag=True, help="Read all of the input as one post, instead of one a line.")
@click.option(
    "--format", "format_", type=click.Choice(["text", "json"]), default="text", show_default=True,
    help="json prints one JSON object a post and line, as soon as it was read.",
)  # fmt: skip
def explain_text(model: Path, epsilon: float | None, whole: bool, format_: str) -> int:
    """Which words of a post give a secret away? Posts come from standard input, one a line.

    For each it prints the estimated risk in nats, the secret it points to and the words responsible, before the next
    one is read: a plug-in can ask before posting. It is an estimate, and certifies nothing.
    """
    from tacit.workflows.tabulating import checked_epsilon
    from tacit.workflows.text_auditing import read_lines

    limit = None if epsilon is None else checked_epsilon(epsilon)
    beyond = False
    for place, post in enumerate(read_lines(model, _posts(whole)), start=1):
        beyond = beyond or (limit is not None and post.risk > limit)
        click.echo(_told(post, place, limit, format_))
        sys.stdout.flush()
    return int(beyond)


def _posts(whole: bool) -> Iterator[str]:
    """Posts from standard input, whatever the terminal's encoding."""
    if whole:
        yield sys.stdin.buffer.read().decode("utf-8", "replace")
        return
    for line in sys.stdin.buffer:
        yield line.decode("utf-8", "replace").rstrip("\r\n")


def _told(post: Any, place: int, limit: float | None, format_: str) -> str:
    beyond = None if limit is None else post.risk > limit
    if format_ == "json":
        at, words = 0, []
        for piece in post.pieces:
            if piece.log_lift:
                words.append(
                    {"word": piece.text, "start": at, "end": at + len(piece.text), "secret": piece.secret}
                    | {"log_lift": piece.log_lift, "moved": piece.moved, "verdict": piece.verdict}
                )
            at += len(piece.text)
        facts = {"post": place, "risk": post.risk, "secret": post.secret, "posterior": post.posterior}
        facts |= {"beyond_epsilon": beyond, "unknown_words": post.unknown, "words": words}
        return json.dumps(facts, ensure_ascii=False, allow_nan=False)
    from tacit.report.numbers import number, share
    from tacit.report.text_report import telling
    from tacit.report.words import printable

    sign = "" if beyond is None else "✗ " if beyond else "✓ "
    return f"{sign}{number(post.risk)} nats  {printable(post.secret)} {share(post.posterior)}  {telling(post)}"
