"""What the answers about images share: words, heat maps, contact sheets."""

from __future__ import annotations

from collections.abc import Sequence

from tacit.document import ContactSheet, Figure, HeatMaps, HeatPanel, SheetRow, shorten
from tacit.lenses.images.results import ImageFacts, ShownImage
from tacit.release.certificate import HeatMap

# How many secrets get a heat map of their own: the first ones.
_SECRETS_DRAWN = 3

DEFINITIONS: tuple[tuple[str, str], ...] = (
    ("patch", "A square of pixels that is examined, and noised, as one."),
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
    ("prior", "How often the commonest label occurs: always guessing it is right this often."),
    ("retrained", "An adversary that learned from released images and their true labels, the strongest case."),
)


def size_words(facts: ImageFacts) -> str:
    """Size and colours of the images."""
    return f"{facts.width}×{facts.height} pixels, {'grey' if facts.channels == 1 else 'colour'}"


def heat_maps(heat: HeatMap) -> Figure:
    """The mean over all images, and a signed one for each secret."""
    panels = [HeatPanel("All images: how much a patch adds, on average, whatever the sign", heat.mean)]
    for label, grid in list(heat.by_secret.items())[:_SECRETS_DRAWN]:
        caption = f"Images with {shorten(label, 24)}: above zero, the patch speaks for it"
        panels.append(HeatPanel(caption, grid, signed=True))
    return Figure(HeatMaps(panels))


def contact_sheet(sheet: Sequence[ShownImage], sizes: Sequence[int]) -> Figure:
    """Rows of originals, heat maps of each patch size over them, and obfuscated images. For the owner only."""
    secrets = [str(each.secret) for each in sheet]
    originals = [each.original for each in sheet]
    rows = [SheetRow("Original", originals, [f"original, {secret}" for secret in secrets])]
    for k, size in enumerate(sizes):
        words = [f"heat map of {size}×{size} patches, {secret}" for secret in secrets]
        rows.append(SheetRow(f"Patches of {size}", originals, words, tuple(each.heat[k].tolist() for each in sheet)))
    if all(each.obfuscated is not None for each in sheet):
        words = [f"obfuscated, {secret}" for secret in secrets]
        rows.append(SheetRow("Obfuscated", [each.obfuscated for each in sheet], words))
    return Figure(ContactSheet(rows, heads=secrets))


def released_images(sheet: Sequence[ShownImage]) -> Figure:
    """Images of the release, which anybody who has the release can see."""
    # Originals are for the owner only: never on a page that is published.
    shown = [each.obfuscated for each in sheet if each.original is None and each.obfuscated is not None]
    return Figure(ContactSheet((SheetRow("", shown, ["a released image"] * len(shown)),), width=114))
