"""``audit``: what does a source give away about a secret, where, and is it real or noise?"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Unpack, overload

from tacit.document import Progress, silent
from tacit.errors import ArgumentError, Setting, sentence
from tacit.requests import Request, asked
from tacit.requests.asking import given
from tacit.requests.settings import AnyPath
from tacit.requests.verbs import AUDIT
from tacit.tables import memory_limit
from tacit.verbs.keywords import AuditImages, AuditTable, AuditText, AuditVectors
from tacit.verbs.lens import lens_of
from tacit.verbs.opening import opened

if TYPE_CHECKING:
    from tacit.lenses.images.answers.audit import ImageAuditResult
    from tacit.lenses.images.images import Images
    from tacit.lenses.table.answers.audit import AuditResult
    from tacit.lenses.table.answers.columns import ColumnsResult
    from tacit.lenses.text.answers.audit import TextAuditResult
    from tacit.lenses.vectors.answers import VectorAuditResult


@overload
def audit(
    source: Images, *requests: Request, progress: Progress = ..., **settings: Unpack[AuditImages]
) -> ImageAuditResult: ...
@overload
def audit(
    source: AnyPath, *requests: Request, labels: AnyPath, progress: Progress = ..., **settings: Unpack[AuditImages]
) -> ImageAuditResult: ...
@overload
def audit(
    source: Any, *requests: Request, text: str, progress: Progress = ..., **settings: Unpack[AuditText]
) -> TextAuditResult: ...
@overload
def audit(
    source: Any, *requests: Request, vector: str, progress: Progress = ..., **settings: Unpack[AuditVectors]
) -> VectorAuditResult: ...
@overload
def audit(
    source: Request, *requests: Request, progress: Progress = ..., **settings: Unpack[AuditTable]
) -> AuditResult: ...
@overload
def audit(
    source: Any,
    *,
    progress: Progress = ...,
    engine: str = ...,
    memory: str | None = ...,
    encoding: str | None = ...,
    remote: bool = ...,
) -> ColumnsResult: ...
@overload
def audit(source: Any, *requests: Request, progress: Progress = ..., **settings: Unpack[AuditTable]) -> AuditResult: ...
def audit(source: Any, *requests: Request, progress: Progress = silent, **settings: Any) -> Any:
    """Measure what a source gives away about the secret.

    ``audit("people.csv", secret="race")`` and ``audit(Question("people.csv", secret="race"))`` are the same.
    ``audit("people.csv")`` alone lists the columns of the table with what they seem to be, and how to go on.

    Parameters
    ----------
    source : path, frame, Table or Question
        CSV, JSON, Excel, Parquet, ORC, Arrow; Stata, SPSS, SAS; a DuckDB or SQLite database, a PostgreSQL table;
        several files; pandas, Polars, Arrow or Spark frames. ``open_table`` has the full list. A folder of images with
        ``labels``, or an npz, is audited patch by patch; with ``text`` the words of a column of posts are, with
        ``vector`` the directions of a column of vectors.
    *requests : Look, Learning
        Requests already made; settings change them.
    **settings
        The fields of ``Question``, ``Look`` and ``Learning``: secret, released, drop, known, use, bins, levels, weight,
        keep_id, text, vector, labels, resize, skip_unreadable, engine, memory, encoding, remote; epsilon, max_loss,
        scores, shuffles, save_model, patch, top, min_count, random_state; estimator, model, fresh. Each class says what
        they mean.

    Returns
    -------
    AuditResult, ImageAuditResult, TextAuditResult or VectorAuditResult
        Depending on the source; for a table without any setting, a ColumnsResult.

    Guarantees
    ----------
    Measures are plug-in: exact for the table itself, estimates for the population it was drawn from.
    What was learned is an estimate and certifies nothing about a single record.
    If the secret is independent of the release, the verdict is "leak" in at most 5% of tables.
    """
    question, look, learning = asked(AUDIT, source, requests, settings, verb="audit")
    question = replace(question, source=opened(question.source, question))
    lens = lens_of(question, (look, learning))
    if lens != "table" and question.use:
        words = "{use} is for protect, or for tables: leave it out"
        raise ArgumentError(sentence(words, use=Setting("use", question.use)))
    if lens == "vectors":
        from tacit.lenses.vectors.audit import audit_vectors

        return audit_vectors(question, look, progress=progress)
    if lens == "images":
        from tacit.lenses.images.audit import audit_images

        return audit_images(question, look, progress=progress)
    if lens == "text":
        from tacit.lenses.text.audit import audit_text

        with memory_limit(question.memory):
            return audit_text(question, look, progress=progress)
    with memory_limit(question.memory):
        if not set(given([question, look, learning])) - {"source", "engine", "memory", "encoding", "remote"}:
            from tacit.lenses.table.roles.guessing import guessed_columns

            return guessed_columns(question.source, engine=question.engine, progress=progress)
        from tacit.lenses.table.audit import audit_table

        return audit_table(question, look, learning, progress=progress)
