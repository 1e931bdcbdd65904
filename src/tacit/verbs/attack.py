"""``attack``: would an adversary still win?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

from tacit.document import Progress, silent
from tacit.requests import AttackRequest
from tacit.requests.asking import refuse_others
from tacit.requests.settings import AnyPath
from tacit.tables import memory_limit
from tacit.verbs.keywords import AttackMedia
from tacit.verbs.opening import opened

if TYPE_CHECKING:
    from tacit.lenses.bench.answers import BenchResult
    from tacit.lenses.table.answers.attack import AttackResult


def attack(
    release: AnyPath | AttackRequest,
    *,
    against: Any = None,
    known: Sequence[str] | str | None = None,
    records: int = 50_000,
    random_state: int = 0,
    engine: str = "duckdb",
    memory: str | None = None,
    progress: Progress = silent,
    **media: Unpack[AttackMedia],
) -> AttackResult | BenchResult:
    """Train adversaries on the original and let them guess the secret from a release.

    Families of adversaries are tried. Each learns from two thirds of the original records with their secrets and
    guesses the secrets of the other third, for each third in turn; the worst third is shown. It guesses from the
    originals (before), from the release (after), and from the release after training on released records with their
    secrets (retrained), which is the most an adversary can hope for.
    For tables there is also an adversary who links: it knows some true values of a person, has the whole file, looks
    for the rows that fit, reads the other columns off them and guesses the secret.

    In posts they read words, characters, style, masks and order; in images gradients, pixels, a network, repaired and
    noised patches, single bits and order; in vectors every number; in a table every column, by trees, lines and counts.
    Images, posts and vectors that are released unchanged are counted.

    Parameters
    ----------
    release : path
        The directory that ``protect`` wrote.
    against : path or frame
        The original table, folder of images or npz.
    labels : path, optional
        For images in a folder: the CSV with their labels.
    known : column or columns, optional
        What the adversary who links knows about a person. By default all released columns but the one that says most
        about the secret; all released columns are always tried, too.
    group : column, optional
        Says whose each record is. All records of one person stay on one side of every split.
    without : name or names, optional
        Families to switch off; for a table: trees, linear, lookup, linkage.
    records : int
        Records to work on, evenly spaced over the table.
    random_state : int
        Seed of the split and the adversaries.
    engine, memory, encoding, remote
        As in ``audit``.

    Returns
    -------
    AttackResult or BenchResult
        For a table, or for images, posts and vectors; ``lost`` says whether the release fails.
    """
    request = release
    if not isinstance(request, AttackRequest):
        request = AttackRequest(
            release,
            against=against,
            known=known,
            records=records,
            random_state=random_state,
            engine=engine,
            memory=memory,
            **media,
        )
    with memory_limit(request.memory):
        request = replace(request, against=opened(request.against, request, pinned=True))
        return _attacked(request, progress)


def _attacked(request: AttackRequest, progress: Progress) -> AttackResult | BenchResult:
    """The kind of the certificate decides which lens attacks it."""
    from tacit.release.certificate import CodedCertificate, ImageCertificate, TextCertificate, read_certificate

    certificate = read_certificate(Path(request.release))
    if isinstance(certificate, ImageCertificate) or (
        isinstance(certificate, CodedCertificate) and certificate.of_images
    ):
        from tacit.lenses.images.attack import attack_images

        refuse_others([request], "images", "a release of images")
        return attack_images(certificate, request, progress=progress)
    if isinstance(certificate, CodedCertificate) and certificate.medium == "vectors":
        from tacit.lenses.vectors.attack import attack_vectors

        refuse_others([request], "vectors", "a release of vectors")
        return attack_vectors(certificate, request, progress=progress)
    if isinstance(certificate, CodedCertificate | TextCertificate):
        from tacit.lenses.text.attack import attack_text

        refuse_others([request], "text", "a release of posts")
        return attack_text(certificate, request, progress=progress)
    from tacit.lenses.table.attack import attack_table

    refuse_others([request], "table", "a release of a table")
    return attack_table(request, progress=progress)
