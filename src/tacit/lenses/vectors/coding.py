"""``protect`` and ``verify`` for vectors in codes: each becomes the mean of a few, which many people share."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from tacit.document import Progress, silent
from tacit.errors import ArgumentError, Command, SourceError, sentence
from tacit.learn.arrays import Codes, Floats
from tacit.lenses.coded.answers import CodedProtectResult, ShownCode
from tacit.lenses.coded.certifying import CodedAbout, coded_certificate, headline
from tacit.lenses.coded.checking import check_of_shown, checked_code, checks_of_code, coded_again
from tacit.lenses.coded.coding import asked_bound, coded
from tacit.lenses.coded.parts import Units, design_part, note_on_copies, units_of
from tacit.lenses.coded.projecting import principal
from tacit.lenses.coded.saving import CODE, README, KeptCode, keep_code
from tacit.lenses.vectors.vectors import Vectors, read_vectors, secret_of
from tacit.loading import arrays_in
from tacit.release.certificate import CertifiedInput, CertifiedOutput, CodedCertificate
from tacit.release.checks import Check, CheckedRelease, check_of_original
from tacit.release.directory import PRIVATE, SALT, new_release, refuse_target
from tacit.release.keys import committed, file_sha256, secret_bytes_in, seed_or_secure
from tacit.requests import Bound, Coding, Making, Question
from tacit.tables.drawing import new_key

_DIRECTIONS = 100
CODE_COLUMN = "code"


def protect_coded_vectors(
    question: Question, bound: Bound, making: Making, coding: Coding, *, out: Path, progress: Progress = silent
) -> CodedProtectResult:
    """Write one of a few vectors for every vector, or every person; the requests say what each setting means.

    Guarantees
    ----------
    The directory appears whole or not at all. Each released vector is the mean of those of at least ``least`` people.
    What is claimed is proved on vectors that the code was not made from; see :class:`CodedCertificate`.
    """
    seed, repeatable = seed_or_secure(making.random_state), making.random_state is not None
    vectors = read_vectors(question)
    refuse_target(out, original=vectors.path, overwrite=making.overwrite)
    uses = tuple(question.use or ())
    if len(uses) > 1:
        raise ArgumentError("vectors in codes keep one use: name one column")
    secret, codes, values = secret_of(vectors, question)
    about = CodedAbout("vectors", secret, vectors.column, coding.group, uses[0] if uses else None)
    limits, key = asked_bound(bound, coding), new_key(making.random_state)
    units = _units(vectors, codes, values, about)
    design, copies = design_part(units, [row.tobytes() for row in vectors.rows], random_state=seed)
    projection = principal(vectors.rows[design[units.of_record]], most=_DIRECTIONS, random_state=seed)
    made = coded(
        units,
        design,
        projection,
        vectors.rows,
        limits,
        key=key,
        random_state=seed,
        repeatable=repeatable,
        progress=progress,
    )
    shown = made.shown(units.means(vectors.rows))
    with new_release(out, overwrite=making.overwrite) as draft:
        progress("writing the release", None)
        file = _written(draft.place, vectors, shown, made.released[made.order])
        output = CertifiedOutput(file, len(units), file_sha256(draft.place / file))
        certificate = coded_certificate(
            made,
            about,
            limits,
            input=CertifiedInput(vectors.name, vectors.format, len(vectors.rows), draft.salted(vectors.sha256())),
            output=replace(output, key_sha256=committed(key, draft.salt)),
            repeatable=repeatable,
        )
        people = np.bincount(made.released, minlength=len(shown))
        listed = tuple(
            ShownCode(at, int(people[at])) for at in np.argsort(-people, kind="stable").tolist() if people[at]
        )
        result = CodedProtectResult(
            str(out), certificate, headline(certificate), listed, note_on_copies(copies, "vectors")
        )
        keep_code(draft, made, key, {})
        result.write_report(draft.report)
        certificate = draft.sealed(certificate, README)
    return replace(result, certificate=certificate)


def _units(vectors: Vectors, codes: Codes, values: tuple[str, ...], about: CodedAbout) -> Units:
    group = None if about.group is None else vectors.label(about.group)
    use = None if about.use is None else vectors.codes(about.use)[0]
    return units_of(codes, values, group=group, named=about.group, use=use)


def _written(place: Path, vectors: Vectors, shown: Floats, codes: Codes) -> str:
    """Write the vector and the number of each code, as an npz or as Parquet; gives the file's name."""
    rows = shown[codes].astype(np.float32)
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


def _read_back(path: Path) -> tuple[Codes, Floats]:
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


def verify_coded_vectors(
    directory: Path,
    certificate: CodedCertificate,
    *,
    against: Any = None,
    labels: Path | None = None,
    progress: Progress = silent,
) -> CheckedRelease:
    """Check vectors in codes: with the originals and the owner's folder every code is made again."""
    checks: list[Check] = []
    private = directory / PRIVATE
    if against is None or not (private / CODE).exists():
        words = "needs the original and the owner's {code}: {command}"
        command = Command("verify", "RELEASE", against="VECTORS")
        checks.append(Check("codes made again", None, sentence(words, code=f"{PRIVATE}/{CODE}", command=command)))
        return checked_code(directory, certificate, checks)
    progress("making codes again", None)
    question = Question(against, secret=certificate.secret, vector=certificate.column, labels=labels)
    vectors = read_vectors(question)
    salt = secret_bytes_in(private / SALT)
    checks.append(check_of_original(vectors.sha256(), certificate, salt, why=f"needs {PRIVATE}/{SALT}"))
    _, codes, values = secret_of(vectors, question)
    about = CodedAbout("vectors", certificate.secret, certificate.column, certificate.group)
    units, kept = _units(vectors, codes, values, about), KeptCode(private)
    again = coded_again(directory, units, units.means(kept.projection(vectors.rows)), kept)
    released, shown = _read_back(directory / certificate.output.file)
    checks += checks_of_code(directory, certificate, units, again, released)
    if all(each.passed is not False for each in checks):
        made = again.shown(units.means(vectors.rows))[released].astype(np.float32).astype(np.float64)
        checks.append(check_of_shown(made, shown))
    return checked_code(directory, certificate, checks)
