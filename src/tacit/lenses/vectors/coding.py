"""``protect`` and ``verify`` for vectors in codes: each becomes the mean of a few, which many people share."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from tacit.document import Progress
from tacit.errors import Command, SourceError
from tacit.learn.arrays import Codes, Floats
from tacit.lenses.coded.answers import CodedProtectResult, ShownCode
from tacit.lenses.coded.certifying import CodedAbout
from tacit.lenses.coded.checking import (
    CodedAgain,
    Originals,
    check_of_bytes,
    checks_of_shown,
    verified_code,
)
from tacit.lenses.coded.coding import asked_bound, coded, one_use, refuse_originals
from tacit.lenses.coded.parts import Units, dealt, units_of
from tacit.lenses.coded.projecting import principal
from tacit.lenses.coded.releasing import release_in_codes
from tacit.lenses.coded.saving import KeptCode
from tacit.lenses.vectors.vectors import Vectors, read_vectors, secret_of
from tacit.loading import arrays_in, file_sha256
from tacit.release.certificate import CertifiedInput, CertifiedOutput, CodedCertificate
from tacit.release.checks import Check, CheckedRelease
from tacit.release.directory import ReleaseDraft, refuse_target
from tacit.release.keys import seed_or_secure
from tacit.requests import Bound, Coding, Making, Question
from tacit.tables.drawing import new_key

_DIRECTIONS = 100
CODE_COLUMN = "code"


def protect_coded_vectors(
    question: Question, bound: Bound, making: Making, coding: Coding, *, out: Path, progress: Progress
) -> CodedProtectResult:
    """Write one of a few vectors for every vector, or every person; the requests say what each setting means.

    Guarantees
    ----------
    The directory appears whole or not at all. Each released vector is the mean of those of at least ``least`` people.
    The claim is proved on vectors that the code was not made from; see :class:`CodedCertificate`.
    """
    seed = seed_or_secure(making.random_state)
    vectors = read_vectors(question)
    refuse_target(out, original=vectors.path, overwrite=making.overwrite)
    secret, codes, values = secret_of(vectors, question)
    about = CodedAbout("vectors", secret, vectors.column, coding.group, one_use(question))
    limits, key = asked_bound(bound, coding), new_key(making.random_state)
    units = vector_units(vectors, codes, values, about)
    parts = dealt(units, _contents(vectors), key)
    projection = principal(vectors.rows[parts.design[units.of_record]], most=_DIRECTIONS, random_state=seed)
    records = coded(units, parts, projection, vectors.rows, limits, key=key, random_state=seed, progress=progress)
    refuse_originals(records, units.means(vectors.rows))
    shown = records.shown(units.means(vectors.rows))

    def write(draft: ReleaseDraft, codes: Codes) -> tuple[CertifiedInput, CertifiedOutput]:
        file = _written(draft.place, vectors, shown[codes], codes)
        source = CertifiedInput(vectors.name, vectors.format, len(vectors.rows), draft.salted(vectors.sha256()))
        return source, CertifiedOutput(file, len(units), file_sha256(draft.place / file))

    return release_in_codes(
        records, about, limits, making, out=out, key=key, write=write, show=ShownCode, progress=progress
    )


def _contents(vectors: Vectors) -> list[bytes]:
    return [row.tobytes() for row in vectors.rows]


def vector_units(vectors: Vectors, codes: Codes, values: tuple[str, ...], about: CodedAbout) -> Units:
    group = None if about.group is None else vectors.label(about.group)
    use = None if about.use is None else vectors.codes(about.use)[0]
    return units_of(codes, values, group=group, named=about.group, use=use)


def _written(place: Path, vectors: Vectors, shown: Floats, codes: Codes) -> str:
    """Write each code and the vector that is ``shown`` for it, as an npz or as Parquet; gives the file's name."""
    rows = shown.astype(np.float32)
    name = CODE_COLUMN if vectors.column != CODE_COLUMN else f"{CODE_COLUMN} number"
    if vectors.format in ("npz", "npy"):
        arrays: dict[str, Any] = {name: codes, vectors.column: rows}
        np.savez_compressed(place / "data.npz", **arrays)
        return "data.npz"
    import pyarrow as pa
    import pyarrow.parquet as pq

    lists = pa.FixedSizeListArray.from_arrays(pa.array(rows.ravel()), rows.shape[1])
    pq.write_table(pa.table({name: pa.array(codes), vectors.column: lists}), place / "data.parquet")
    return "data.parquet"


def read_back(path: Path) -> tuple[Codes, Floats]:
    """The codes and vectors of a release."""
    if path.suffix == ".npz":
        arrays: Mapping[str, Any] = arrays_in(path, "vectors")
        codes, rows = (next((each for each in arrays.values() if each.ndim == k), None) for k in (1, 2))
        if codes is None or rows is None:
            raise SourceError(f"{path} is damaged: it should hold codes and vectors")
        return codes.astype(np.int64), rows.astype(np.float64)
    import pyarrow.parquet as pq

    table = pq.read_table(path)
    flat = table.column(1).combine_chunks().flatten().to_numpy()
    return table.column(0).to_numpy().astype(np.int64), flat.reshape(table.num_rows, -1).astype(np.float64)


def _columns(path: Path) -> int:
    """How many arrays or columns a file holds."""
    if path.suffix == ".npz":
        return len(arrays_in(path, "vectors"))
    import pyarrow.parquet as pq

    return len(pq.read_schema(path))


def verify_coded_vectors(
    directory: Path,
    certificate: CodedCertificate,
    *,
    against: Any,
    labels: Path | None,
    progress: Progress,
) -> CheckedRelease:
    """Check vectors in codes: given the originals and the owner's folder, every code is made again."""

    def read(kept: KeptCode) -> Originals:
        question = Question(against, secret=certificate.secret, vector=certificate.column, labels=labels)
        vectors = read_vectors(question)
        _, codes, values = secret_of(vectors, question)
        about = CodedAbout("vectors", certificate.secret, certificate.column, certificate.group)
        units = vector_units(vectors, codes, values, about)
        released, written = read_back(directory / certificate.output.file)

        def shown(again: CodedAgain) -> Iterator[Check]:
            means = units.means(vectors.rows)
            expected = again.shown(means)[released].astype(np.float32).astype(np.float64)
            return checks_of_shown(again, means, expected, written)

        projected = units.means(kept.projection(vectors.rows))
        more = None if _columns(directory / certificate.output.file) == 2 else "there is more than codes and vectors"
        plain = check_of_bytes(directory, lambda place: _written(place, vectors, written, released), more=more)
        return Originals(vectors.sha256(), units, _contents(vectors), projected, released, plain, shown)

    command = Command("verify", "RELEASE", against="VECTORS")
    return verified_code(directory, certificate, command, None if against is None else read, progress=progress)
