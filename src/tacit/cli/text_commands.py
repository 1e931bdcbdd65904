"""``explain-text``: which words of a post give a secret away?"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click


@click.command("explain-text", short_help="Which words of a post give a secret away?")
@click.option(
    "--model",
    type=click.Path(path_type=Path),
    metavar="FILE.tacit",
    required=True,
    help="What tacit audit --text ... --save-model saved.",
)
@click.option("--epsilon", type=float, help="Exit 1 if any post is riskier than this many nats.")
@click.option("--whole", is_flag=True, help="Read the whole input as one post, instead of one post per line.")
@click.option(
    "--format",
    "format_",
    type=click.Choice(["text", "json"]),
    default="text",
    show_default=True,
    help="json prints one JSON object per post, on a line of its own, as soon as the post is read.",
)
def explain_text(model: Path, epsilon: float | None, whole: bool, format_: str) -> int:
    """Which words of a post give a secret away? Posts are read from standard input, one per line.

    For each it prints the estimated risk in nats, the secret it points to and the words responsible, before it reads
    the next: a plug-in can ask before posting. It is an estimate, and certifies nothing.
    """
    from tacit.lenses.text.audit import read_lines
    from tacit.release.bounds import checked_epsilon

    limit = None if epsilon is None else checked_epsilon(epsilon)
    beyond = False
    for place, post in enumerate(read_lines(model, _posts(whole)), start=1):
        beyond = beyond or (limit is not None and post.risk > limit)
        click.echo(_line_of(post, place, limit, format_))
        sys.stdout.flush()
    return int(beyond)


def _posts(whole: bool) -> Iterator[str]:
    """Posts from standard input, whatever the terminal's encoding."""
    if whole:
        yield sys.stdin.buffer.read().decode("utf-8", "replace")
        return
    for line in sys.stdin.buffer:
        yield line.decode("utf-8", "replace").rstrip("\r\n")


def _line_of(post: Any, place: int, limit: float | None, format_: str) -> str:
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
    from tacit.document import printable
    from tacit.document.quantities import number, share

    strong = ", ".join(f"{printable(piece.text)} {number(piece.moved)}" for piece in post.telling())
    telling = strong or post.without_telling
    sign = "" if beyond is None else "✗ " if beyond else "✓ "
    return f"{sign}{number(post.risk)} nats  {printable(post.secret)} {share(post.posterior)}  {telling}"
