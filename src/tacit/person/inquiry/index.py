"""What was read from the sources of a case and computed, kept next to it for the next command; only for its owner."""

from __future__ import annotations

import hashlib
import json
import os
import secrets
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacit import __version__
from tacit.errors import TacitError
from tacit.person.answers.kept import answer_file, kept_folder, place_state, waiting, written_answer
from tacit.person.case.model import Case
from tacit.person.case.tables import COLUMNS, columns_seen
from tacit.person.link.attributes import IntArray
from tacit.person.link.coded import kept_tables, read_coded, write_coded, write_tables
from tacit.person.link.likely import LikelyModel
from tacit.person.link.right import RightRows
from tacit.person.model.forms import form_name
from tacit.person.model.labels import Labels
from tacit.person.model.values import similarity_name
from tacit.person.resolve.adversaries import Adversary
from tacit.person.resolve.steps import Normalise, Resolve
from tacit.person.sources.places import Address, has_parts
from tacit.person.sources.pool import PoolSource, RecordPool
from tacit.tables.engines import Store, store_on
from tacit.tables.table import stamp_of

# The table of what is right about a person, in a file of its own.
RIGHT = "kept_right"
# Files of another layout are not read.
LAYOUT = 2


@dataclass(frozen=True)
class CaseIndex:
    """A folder of files, each named after everything it depends on; if that changes, it is another file.

    ``folder`` is that of the case below ``.tacit``, ``key`` stands for its sources in their present state, ``person``
    for what is true of the person and how it is compared; None if what is right about them cannot be kept. Files are
    written under another name and renamed, so that no process sees half of one, and are never changed. Processes write
    one after the other, and none writes what another has written. A file that was changed nevertheless, or cannot be
    read, is made again. If nothing can be written, nothing is kept.
    """

    folder: Path
    key: str
    person: str | None = None

    def pool(self) -> RecordPool | None:
        """The records of the sources, and the same in normal form, if they are kept."""
        import pyarrow as pa

        about = self._about("records")
        if about is None:
            return None
        several, formed = (frozenset(about[name]) for name in ("several", "formed"))
        try:
            attributes, forms = read_coded(
                store_on("duckdb"),
                self._path("records"),
                records=about["records"],
                several=several,
                counts=about["counts"],
                formed=formed,
                certain=about["certain"],
            )
            with pa.memory_map(str(self._path("names"))) as file:
                names = [column.combine_chunks() for column in pa.ipc.open_file(file).read_all().columns]
        except (TacitError, OSError, pa.ArrowInvalid):
            return None
        sources = []
        for place, one in enumerate(about["sources"]):
            own = names[place].slice(0, one["records"]) if one["named"] else None
            sources.append(PoolSource(one["name"], Path(one["path"]), one["first"], one["records"], one["sha256"], own))
        return RecordPool(attributes, tuple(sources), tuple(about["notes"]), forms)

    def keep(self, pool: RecordPool) -> None:
        """Keep the records, if there are many, and delete those of sources that have changed."""
        attributes, forms = pool.attributes, pool.formed
        if attributes.coded is None:
            return
        sources = [
            {
                "name": one.name,
                "path": str(one.path),
                "first": one.first,
                "records": one.records,
                "sha256": one.sha256,
                "named": one.names is not None,
            }
            for one in pool.sources
        ]
        formed = sorted(forms.formed) if forms is not None else []
        facts = {
            "records": attributes.records,
            "several": sorted(attributes.several),
            "counts": dict(attributes.coded.counts),
            "formed": formed,
            "certain": attributes.coded.certain,
        }
        with suppress(OSError, TacitError):
            with self._alone():
                self._forget()
            self._write("names", lambda path: _write_names(pool, path), {})
            self._note(COLUMNS, columns_seen(one.path for one in pool.sources if isinstance(one.path, Path)))
            noted = {**facts, "sources": sources, "notes": list(pool.notes)}
            self._write("records", lambda path: write_coded(attributes, forms, path), noted)

    def keep_answer(self, answer: object, question: object, files: Mapping[Path, object]) -> None:
        """Keep an answer, if the records are kept; ``files`` are those that it depends on, as they were before."""
        text = written_answer(answer, files) if files and self._holds_records else None
        if text is not None:
            self._note(answer_file(question), text)

    def clusters(self, spec: Adversary, make: Callable[[], IntArray]) -> IntArray:
        """The cluster of every record after the last resolution of an adversary."""
        known = all(type(step) in (Normalise, Resolve) for step in spec.steps)
        if not known or not self._holds_records:
            return make()
        what = f"clusters-{_digest(repr(spec.steps))}"
        if self._about(what) is not None:
            with suppress(OSError, ValueError, EOFError):
                cluster: IntArray = np.load(self._path(what), allow_pickle=False)
                return cluster
        cluster = make()

        with suppress(OSError):
            self._write(what, lambda path: _write_array(cluster, path), {})
        return cluster

    def learned(self, store: Store, make: Callable[[], LikelyModel | None]) -> LikelyModel | None:
        """What was learned from the records in normal form, whoever is asked about: read if kept, otherwise made and
        kept."""
        about = self._about("likely")
        if about is not None and self._about("codes") is not None:
            with suppress(TacitError, OSError, ValueError, EOFError):
                (few,) = kept_tables(store, self._path("likely"), "kept_few")
                codes = np.load(self._path("codes"), mmap_mode="r", allow_pickle=False)
                return LikelyModel.of(codes, few, about["facts"])
        model = make()
        if model is not None and self._holds_records:
            codes, tables = model.codes, {"kept_few": model.few}
            with suppress(OSError, TacitError):
                self._write("codes", lambda path: _write_array(codes, path), {})
                self._write("likely", lambda path: write_tables(store, tables, path), {"facts": model.facts()})
        return model

    def right(self, store: Store, among: str, make: Callable[[], RightRows]) -> RightRows:
        """What is right about the person ``among`` the records as read or in normal form."""
        if self.person is None or not self._holds_records:
            return make()
        what = f"right-{self.person}-{among}"
        about = self._about(what)
        if about is not None:
            with suppress(TacitError, OSError):
                (name,) = kept_tables(store, self._path(what), RIGHT)
                return RightRows(store, name, about["labels"], owned=False)
        rows = make()
        with suppress(OSError, TacitError):
            for old in self.folder.glob(f"{self.key}-right-*"):
                if not old.name.startswith(f"{self.key}-right-{self.person}-"):
                    old.unlink(missing_ok=True)
            tables = {RIGHT: rows.name}
            self._write(what, lambda path: write_tables(store, tables, path), {"labels": list(rows.labels)})
        return rows

    @property
    def _holds_records(self) -> bool:
        """Whether the records are kept."""
        return self._about("records") is not None

    def _path(self, what: str) -> Path:
        return self.folder / f"{self.key}-{what}"

    def _about(self, what: str) -> dict[str, Any] | None:
        """The notes about a file; None if there is none, or if it has changed since."""
        try:
            if any(self._path(each).lstat().st_uid != os.geteuid() for each in (what, f"{what}.json")):
                return None
            noted: dict[str, Any] = json.loads(self._path(f"{what}.json").read_bytes())
            return noted if noted["stamp"] == list(stamp_of(self._path(what))) else None
        except (OSError, ValueError, KeyError, TypeError):
            return None

    def _write(self, what: str, write: Callable[[Path], None], noted: dict[str, Any]) -> None:
        """Write a file and the notes about it, each whole or not at all; nothing if another process has done so."""
        with self._alone():
            if self._about(what) is not None:
                return
            draft = self.folder / f"draft-{secrets.token_hex(8)}"
            path = self._path(what)
            # By default everybody could read the files that the engine writes.
            before = os.umask(0o077)
            try:
                write(draft)
                draft.chmod(0o600)
                os.replace(draft, path)
                draft.touch(mode=0o600)
                draft.write_text(json.dumps({**noted, "stamp": stamp_of(path)}))
                os.replace(draft, path.with_name(f"{path.name}.json"))
            finally:
                os.umask(before)
                draft.unlink(missing_ok=True)

    def _note(self, called: str, text: str) -> None:
        """Write a small file that is read before the sources are known: their columns, or an answer."""
        with suppress(OSError), self._alone():
            path, draft = self.folder / called, self.folder / f"draft-{secrets.token_hex(8)}"
            if path.exists() and path.read_bytes() == text.encode():
                return
            draft.touch(mode=0o600)
            draft.write_text(text)
            os.replace(draft, path)

    @contextmanager
    def _alone(self) -> Iterator[None]:
        """Lock the folder, so that no other process writes meanwhile; the lock of a killed process is released."""
        import fcntl

        for place in (self.folder.parent, self.folder):
            place.mkdir(mode=0o700, exist_ok=True)
            place.chmod(0o700)
        (self.folder.parent / ".gitignore").write_text("*\n")
        descriptor = os.open(self.folder, os.O_RDONLY)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX)
            yield
        finally:
            os.close(descriptor)

    def _forget(self) -> None:
        """Remove what was kept of other sources, or of these before they changed, and leftovers of killed processes.

        A process that still reads such a file can go on reading.
        """
        for path in self.folder.glob("*"):
            if not path.name.startswith(self.key) and path.name != COLUMNS:
                path.unlink(missing_ok=True)


def case_index(case: Case) -> CaseIndex | None:
    """The index of a case; None if the case turns it off, if not all its sources are files that show when they changed
    (a database with changes in a second file does not), if the normal form of a label has no name, or if the folder is
    somebody else's."""
    described, folder = _described(case.labels), kept_folder(case.path)
    if not case.index or described is None or folder is None:
        return None
    stamps = []
    for source in case.sources:
        if isinstance(source.path, Address):
            return None
        path = source.path if source.path.exists() else Path(str(source.path).rsplit("::", 1)[0])
        if not has_parts(path) and (not path.is_file() or waiting(path)):
            return None
        # The same file, by whatever path the case was opened.
        stamps.append([repr(replace(source, path=source.path.resolve())), place_state(path)])
    # Records of breaches hold the person's own values.
    person = list(case.person.facts) if case.person is not None else []
    own = person if any(source.format != "table" for source in case.sources) else []
    key = _digest([__version__, LAYOUT, stamps, described, own])
    return CaseIndex(folder, key, _person(case, described))


def _person(case: Case, described: object) -> str | None:
    """What is true of the person, and how it is compared; None if a similarity has no name."""
    if case.person is None:
        return None
    ways = []
    for name in {label for label, _ in case.person}.union(case.labels):
        label = case.labels[name]
        if label.similarity is not None and similarity_name(label.similarity) is None:
            return None
        prior = None if label.prior is None else sorted(label.prior.items())
        ways.append([name, label.weight, label.single, label.suppressed, list(label.domain), prior])
    groups = [[list(group.labels), group.shared] for group in case.labels.correlated]
    return _digest([list(case.person.facts), described, sorted(ways, key=lambda way: str(way[0])), groups])


def _digest(what: object) -> str:
    return hashlib.sha256(json.dumps(what, sort_keys=True).encode()).hexdigest()[:32]


def _described(labels: Labels) -> object | None:
    """The names of the normal forms and similarities of labels; None if a normal form has no name."""
    described = {}
    for name, label in labels.items():
        form = form_name(label.normalise)
        if form is None and label.normalise is not None:
            return None
        described[name] = [form, sorted(label.synonyms.items()), similarity_name(label.similarity)]
    return described


def _write_array(array: NDArray[Any], path: Path) -> None:
    with path.open("wb") as file:
        np.save(file, array)


def _write_names(pool: RecordPool, path: Path) -> None:
    """Write the names of records, one column per source, so that they can be memory-mapped."""
    import pyarrow as pa

    longest = max(source.records for source in pool.sources)
    columns = {}
    for place, source in enumerate(pool.sources):
        own = pa.nulls(0, pa.string()) if source.names is None else source.names.cast(pa.string())
        columns[str(place)] = pa.concat_arrays([own, pa.nulls(longest - len(own), pa.string())])
    table = pa.table(columns)
    with pa.OSFile(str(path), "wb") as file, pa.ipc.new_file(file, table.schema) as writer:
        writer.write_table(table)
