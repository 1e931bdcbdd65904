"""Pages and terminal output about images: heat maps, contact sheets, and what adversaries still guess."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
from markupsafe import Markup
from rich.console import RenderableType

from tacit.report import charts, terminal, words
from tacit.report.numbers import chance, count, number, setting, share
from tacit.report.pictures import SIGNED, coloured, overlaid, picture, round_top, scale_bar
from tacit.report.words import printable
from tacit.workflows.image_results import (
    Guess,
    HeatMap,
    ImageAuditResult,
    ImageCertificate,
    ImageFacts,
    ImageProtectResult,
    PatchFindings,
    ShownImage,
)
from tacit.workflows.results import Adversary, AttackResult, Result

# Heat maps of single secrets that are drawn; of more only the first.
_SECRETS_DRAWN = 3
_MAP = 190
_SHEET = 100
_PUBLIC = 114

DEFINITIONS: tuple[tuple[str, str], ...] = (
    (
        "patch",
        "A square of pixels that is looked at, and noised, as one.",
    ),
    (
        "log-lift",
        "How far seeing an image moves the belief in a label: the logarithm of how likely the label is given the "
        "image, over how likely it was before. 0: nothing learned.",
    ),
    (
        "what a patch adds",
        "Its conditional density: the log-lift of the patches seen so far and this one, less the log-lift without it. "
        "Patches that say the same share what they say, because it is averaged over orders.",
    ),
    (
        "epsilon",
        "What one patch may add before it is noised. It bounds neither the image as a whole nor a single image: the "
        "densities are learned, and may be wrong.",
    ),
    (
        "prior",
        "How often the commonest label occurs: who always guesses it is right so often.",
    ),
    (
        "retrained",
        "An adversary that learned from released images and their true labels, the strongest case.",
    ),
)


# ---- pages --------------------------------------------------------------------------------------------------------


def page_of(result: Result, unit: str, both: Callable[[Callable[[float], Markup]], Markup]) -> dict[str, Any]:
    """What the page of a result about images shows."""
    shared = {"reading": DEFINITIONS, "images": True, "guess": guess_words}
    if isinstance(result, ImageAuditResult):
        own: dict[str, Any] = {
            "body": "image_audit.html",
            "kind": "audit of images",
            "maps": [(p.size, heat_maps(p.heat, unit)) for p in result.patches],
            "sheet": contact_sheet(result.sheet, [p.size for p in result.patches], unit),
            "size": size_words(result.source),
        }
        return shared | own
    assert isinstance(result, ImageProtectResult)
    certificate = result.certificate
    return shared | {
        "body": "image_protect.html",
        "kind": "release of images",
        "c": certificate,
        "size": size_words(result.source),
        "chart": both(lambda width: charts.accuracy_bars(_as_attack(certificate), width=width)),
        "best": max(max(a.after.right, a.retrained.right) for a in certificate.adversaries),
        "best_before": max(a.before.right for a in certificate.adversaries),
        "maps": heat_maps(certificate.heat, unit),
        "sheet": contact_sheet(result.sheet, [certificate.patch], unit) if result.private else public_sheet(result),
    }


def size_words(facts: ImageFacts) -> str:
    """Size and colours of the images."""
    return f"{facts.width}×{facts.height} pixels, {'grey' if facts.channels == 1 else 'colour'}"


def guess_words(guess: Guess) -> str:
    """The limits of a share of right guesses."""
    return f"{share(guess.low)}–{share(guess.high)}"


def heat_maps(heat: HeatMap, unit: str) -> Markup:
    """The mean over all images, and for each secret with its sign, each with its colour scale."""
    mean = np.array(heat.mean)
    figures = [_map("All images: how much a patch adds, on average, whatever the sign", mean, unit, is_signed=False)]
    grids = {label: np.array(grid) for label, grid in list(heat.by_secret.items())[:_SECRETS_DRAWN]}
    top = round_top(np.array(list(grids.values()))) if grids else 1.0
    for label, grid in grids.items():
        told = f"Images with {words.shorten(label, 24)}: above zero, the patch speaks for it"
        figures.append(_map(told, grid, unit, is_signed=True, top=top))
    return Markup('<div class="maps">{}</div>').format(Markup("").join(figures))


def _map(caption: str, grid: Any, unit: str, *, is_signed: bool, top: float | None = None) -> Markup:
    end = top or round_top(grid)
    best = np.unravel_index(np.abs(grid).argmax(), grid.shape)
    told = f"{caption}. Most: {number(float(grid[best]))} {unit} at row {best[0] + 1}, column {best[1] + 1}"
    pixels = coloured(grid, top=end, colours=SIGNED) if is_signed else coloured(grid, top=end)
    bar = scale_bar(end, unit, colours=SIGNED, width=_MAP) if is_signed else scale_bar(end, unit, width=_MAP)
    return Markup("<figure>{}{}<figcaption>{}</figcaption></figure>").format(
        picture(pixels, told, width=_MAP), bar, caption
    )


def contact_sheet(sheet: Sequence[ShownImage], sizes: Sequence[int], unit: str) -> Markup | None:
    """Rows of originals, heat maps of each patch size over them, and obfuscated images; None without images."""
    if not sheet:
        return None
    rows = [_sheet_row("Original", [(_shown(each.original), f"original, {each.secret}") for each in sheet])]
    bars = []
    for k, size in enumerate(sizes):
        heats = [each.heat[k] for each in sheet]
        top = round_top(np.array(heats), share=0.995)
        cells = [
            (overlaid(_shown(each.original), heat, top=top), f"heat map of {size}×{size} patches, {each.secret}")
            for each, heat in zip(sheet, heats, strict=True)
        ]
        rows.append(_sheet_row(f"Patches of {size}", cells))
        bars.append(Markup("<figure>{}<figcaption>Patches of {}: what each adds</figcaption></figure>").format(
            scale_bar(top, unit), size
        ))  # fmt: skip
    if all(each.obfuscated is not None for each in sheet):
        rows.append(_sheet_row("Obfuscated", [(_shown(e.obfuscated), f"obfuscated, {e.secret}") for e in sheet]))
    heads = Markup("").join(Markup('<th scope="col">{}</th>').format(words.shorten(e.secret, 14)) for e in sheet)
    return Markup(
        '<div class="scroll"><table class="sheet"><thead><tr><th></th>{}</tr></thead><tbody>{}</tbody></table></div>'
        '<div class="maps">{}</div>'
    ).format(heads, Markup("").join(rows), Markup("").join(bars))


def public_sheet(result: ImageProtectResult) -> Markup:
    """Released images as they are; whoever has the release has these."""
    shown = [
        picture(_shown(each.obfuscated), "a released image", width=_PUBLIC)
        for each in result.sheet
        # An original is the owner's: never on a page that is published.
        if each.original is None and each.obfuscated is not None
    ]
    return Markup('<div class="released">{}</div>').format(Markup("").join(shown))


def _shown(pixels: Any) -> Any:
    assert pixels is not None
    return pixels


def _sheet_row(name: str, cells: Sequence[tuple[Any, str]]) -> Markup:
    shown = Markup("").join(Markup("<td>{}</td>").format(picture(p, told, width=_SHEET)) for p, told in cells)
    return Markup('<tr><th scope="row">{}</th>{}</tr>').format(name, shown)


def _as_attack(certificate: ImageCertificate) -> AttackResult:
    """The adversaries in the form that the chart of attacks draws; there is no bound to be drawn."""
    made = tuple(
        Adversary(
            a.name, a.before.right, (a.before.low, a.before.high), a.after.right, (a.after.low, a.after.high),
            a.retrained.right, (a.retrained.low, a.retrained.high),
        )
        for a in certificate.adversaries
    )  # fmt: skip
    prior = certificate.adversaries[0].prior
    nothing: dict[str, Any] = dict.fromkeys(
        ("best_before", "best_after", "gain_before", "gain_after", "optimal_before", "optimal_after"), math.nan
    )
    return AttackResult(
        release="", against="", trained_on=0, tested_on=certificate.adversaries[0].after.of, prior_guess=prior,
        guessing_bound=math.nan, adversaries=made, verdict="within the estimate", headline="", bound_kind="estimate",
        **nothing,
    )  # fmt: skip


# ---- terminal -----------------------------------------------------------------------------------------------------


def parts_of(result: Result, unit: str) -> Iterator[RenderableType]:
    """A result about images for the terminal."""
    if isinstance(result, ImageAuditResult):
        yield from _audit_parts(result, unit)
    elif isinstance(result, ImageProtectResult):
        yield from _protect_parts(result, unit)


def _audit_parts(result: ImageAuditResult, unit: str) -> Iterator[RenderableType]:
    source, guess = result.source, result.adversary
    yield terminal.answer(words.badge(result.verdict), result.headline)
    yield terminal.facts(
        [
            ("Images", f"{printable(source.name)}, {count(source.images)} images of {size_words(source)}"),
            ("Secret", ", ".join(f"{printable(s.label)} {share(s.prior)}" for s in result.secrets)),
            ("Learned from", f"{count(result.trained_on)} images; all numbers are of {count(result.held_out)} others"),
            ("Adversary", f"{share(guess.right)} right ({guess_words(guess)}); prior {share(result.prior_guess)}"),
        ]
    )
    yield terminal.heading(f"By patch size (estimates, {unit})")
    table = terminal.table(
        "Patch", ">Patches", ">Information", ">95% interval", ">p-value", "", "Says most (row, column)"
    )
    for p in result.patches:
        table.add_row(*_patch_row(p))
    yield table
    yield from terminal.notes(result.notes)


def _patch_row(p: PatchFindings) -> tuple[str, ...]:
    most = ", ".join(f"({place.row}, {place.column}) {number(place.mean)}" for place in p.leaking_most[:3])
    limits = f"{number(p.information.low)} to {number(p.information.high)}"
    return (
        f"{p.size}×{p.size}", count(p.patches), number(p.information.value), limits, chance(p.p_value),
        words.badge(p.verdict).words, most,
    )  # fmt: skip


def _protect_parts(result: ImageProtectResult, unit: str) -> Iterator[RenderableType]:
    c = result.certificate
    yield terminal.answer(words.badge_of_result(result), result.headline)
    yield terminal.line(f"Claim: {printable(c.claim)}")
    yield terminal.facts(
        [
            ("Release", printable(result.out)),
            (
                "Noised",
                f"{share(c.flagged_share)} of patches of {c.patch}×{c.patch}, {share(c.flagged_images)} of images",
            ),
            ("Epsilon", f"{setting(c.epsilon)} {unit} a patch; certified of a single image: nothing"),
            ("Bound (if densities were right)", bound_words(c)),
            ("Names and order", c.names),
        ]
    )
    yield terminal.heading("Adversaries: secrets guessed right, on images apart (95% limits)")
    table = terminal.table("Adversary", ">Before", ">After", ">After, retrained", ">Prior")
    for a in c.adversaries:
        told = [f"{share(g.right)} ({guess_words(g)})" for g in (a.before, a.after, a.retrained)]
        table.add_row(a.name, *told, share(a.prior))
    yield table
    yield terminal.heading("What it rests on")
    yield terminal.bullets(c.assumptions)
    yield from terminal.notes(result.notes)


def bound_words(c: ImageCertificate) -> str:
    """The repaired bound in short, and whether it is worth anything."""
    one, all_ = (": vacuous" if is_vacuous else "" for is_vacuous in (c.delta.largest_vacuous, c.delta.vacuous))
    return f"delta {number(c.delta.largest)} a patch at most{one}; {number(c.delta.total)} in total{all_}"
