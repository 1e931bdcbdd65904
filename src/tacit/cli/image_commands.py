"""``audit`` and ``protect`` where the argument is a folder of images or an npz: the same words, another workflow."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click
from click.core import ParameterSource

from tacit.cli.options import split_names, stack

# Words that mean the same for images as for tables.
_SHARED = {"table", "secret", "epsilon", "page", "out", "overwrite", "random_state", "format_", "bits", "quiet"}
_OWN = {"labels", "patch", "scale", "order", "keep_label", "keep_names"}

labels_option = click.option(
    "--labels",
    type=click.Path(path_type=Path),
    metavar="labels.csv",
    help="Images: the CSV with a column of file names, and their labels.",
)

_patch_option = click.option(
    "--patch", multiple=True, type=int, metavar="32|16|8|4|2",
    help="Images: side of the square patches in pixels; repeatable in audit.  [default: about 8 patches a side]",
)  # fmt: skip

image_audit_options = stack(labels_option, _patch_option)

image_protect_options = stack(
    labels_option,
    _patch_option,
    click.option(
        "--scale", type=float, default=1.0, show_default=True,
        help="Images: standard deviation of the noise; 1 is the full range of a pixel.",
    ),
    click.option(
        "--order", type=click.Choice(["given", "leak"]), default="given", show_default=True,
        help="Images: treat patches row by row, or those that say most first.",
    ),
    click.option(
        "--keep-label", multiple=True, callback=split_names, help="Images: release this other label beside them."
    ),
    click.option(
        "--keep-names", is_flag=True, help="Images: keep names and order of the files, which may tell the secret."
    ),
)  # fmt: skip


def of_images(source: str) -> bool:
    """Whether the argument is images, and not a table; the words must then fit."""
    context = click.get_current_context()
    images = Path(source).is_dir() or source.lower().endswith(".npz")
    allowed = _SHARED | _OWN
    for parameter in context.command.params:
        name = parameter.name or ""
        if context.get_parameter_source(name) is not ParameterSource.COMMANDLINE:
            continue
        if images and name not in allowed:
            raise click.UsageError(f"{parameter.opts[-1]} is for tables, and {source} holds images: leave it out")
        if not images and name in _OWN:
            raise click.UsageError(
                f"{parameter.opts[-1]} is for images: {source} is neither a folder of images nor an npz"
            )
    return images


def one_secret(secret: tuple[str, ...] | None) -> str:
    """The one label that is secret."""
    if not secret or len(secret) > 1:
        raise click.UsageError("name one label that is secret: --secret LABEL")
    return secret[0]


def audit_images(source: str, page: Path | None, words: dict[str, Any]) -> int:
    """Audit images; exit code 1 if a patch size leaks more than epsilon in some patch, on average."""
    from tacit import report
    from tacit.cli.showing import show, watched
    from tacit.workflows.image_auditing import audit_images as run
    from tacit.workflows.tabulating import checked_epsilon

    limit = None if words["epsilon"] is None else checked_epsilon(words["epsilon"])
    with watched(quiet=words["quiet"]) as progress:
        result = run(
            source, secret=one_secret(words["secret"]), labels=words["labels"], patch=words["patch"] or None,
            random_state=words["random_state"], progress=progress,
        )  # fmt: skip
    if page is not None:
        report.write_report(result, page)
    show(result, format_=words["format_"], bits=words["bits"])
    if limit is None:
        return 0
    return int(any(findings.leaking_most[0].mean > limit for findings in result.patches))


def protect_images(source: str, words: dict[str, Any]) -> int:
    """Protect images; exit code 0 when the release is written."""
    from tacit.cli.showing import show, watched
    from tacit.workflows.image_protecting import protect_images as run

    if words["epsilon"] is None:
        raise click.UsageError("say how much one patch may add: --epsilon NATS, such as 0.5")
    if len(words["patch"]) > 1:
        raise click.UsageError("a release has one size of patches: give --patch once")
    with watched(quiet=words["quiet"]) as progress:
        result = run(
            source, secret=one_secret(words["secret"]), epsilon=words["epsilon"], out=words["out"],
            labels=words["labels"], patch=words["patch"][0] if words["patch"] else None, scale=words["scale"],
            order=words["order"], keep_labels=words["keep_label"] or (), keep_names=words["keep_names"],
            overwrite=words["overwrite"], random_state=words["random_state"], progress=progress,
        )  # fmt: skip
    show(result, format_=words["format_"], bits=words["bits"])
    return 0
