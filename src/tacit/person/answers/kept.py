"""An answer kept next to its case, and returned again as long as nothing that it depends on has changed.

Looking for one loads no engine, because that takes longer than reading the answer.
"""

from __future__ import annotations

import hashlib
import json
import os
import stat
import sys
import sysconfig
import types
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict, fields, is_dataclass
from pathlib import Path
from typing import Any, TypeVar, Union, get_args, get_origin, get_type_hints

from tacit import __version__
from tacit.errors import TacitError

Answer = TypeVar("Answer")

# What is kept about a case is in a folder next to it.
FOLDER = ".tacit"


def kept_folder(case: Path) -> Path | None:
    """The folder with what is kept about a case, whether or not it exists; None if anybody else may have written in it.

    In a shared folder, somebody else may have put one there with an answer that is not true.
    """
    folder = case.absolute().parent / FOLDER / case.name
    for place in (folder.parent, folder):
        with suppress(FileNotFoundError):
            facts = place.lstat()
            if not stat.S_ISDIR(facts.st_mode) or facts.st_uid != os.geteuid() or facts.st_mode & 0o022:
                return None
    return folder


def kept_bytes(case: Path, called: str) -> bytes:
    """A file that is kept about a case; an OSError if there is none, or if it is somebody else's."""
    folder = kept_folder(case)
    if folder is None:
        raise PermissionError(f"{FOLDER} next to {case} is somebody else's")
    with (folder / called).open("rb") as file:
        if os.fstat(file.fileno()).st_uid != os.geteuid():
            raise PermissionError(f"{file.name} is somebody else's")
        return file.read()


def answer_file(question: object) -> str:
    """The file name of the answer to a question."""
    return f"answer-{_digest(json.dumps(question, sort_keys=True, default=repr))[:32]}"


def kept_answer(case: Path, question: object, kind: type[Answer]) -> Answer | None:
    """The answer that this user kept; None if there is none, or if a file that it depends on has changed.

    A file has not changed if it is the same file with the same length, and was neither written to nor renamed since.
    The files are the case, its sources, every file that it names, Tacit's own, and the folder into which packages are
    installed.
    """
    try:
        noted = json.loads(kept_bytes(case, answer_file(question)))
        same = noted["code"] == code() and all(
            place_state(Path(path)) == stamp for path, stamp in noted["files"].items()
        )
        if not same or not noted["files"] or _digest(noted["answer"]) != noted["sha256"]:
            return None
        answer: Answer = _read(kind, json.loads(noted["answer"]))
    except (OSError, ValueError, KeyError, TypeError, AttributeError, TacitError):
        return None
    return answer


def written_answer(answer: Any, files: Mapping[Path, object]) -> str | None:
    """An answer in the form in which it is kept, with the state of the files that it depends on before they were read.

    None if it could not be read back unchanged.
    """
    try:
        text = json.dumps(asdict(answer))
    except TypeError:
        # JSON cannot write a numpy number, such as one that was passed as a limit.
        return None
    if _read(type(answer), json.loads(text)) != answer:
        return None
    named = {str(path.absolute()): stamp for path, stamp in files.items()}
    return json.dumps({"code": code(), "files": named, "sha256": _digest(text), "answer": text})


def place_state(path: Path) -> list[int]:
    """The state of a file; of a folder or a pattern, that of the files that make up its table, and their names."""
    if path.is_file():
        return file_state(path)
    from tacit.tables.formats.parts import is_several
    from tacit.tables.sources import tables_at

    if not is_several(str(path)):
        return file_state(path)
    files = [[str(each), *file_state(each)] for each in tables_at(str(path))[1]]
    return [len(files), int(_digest(json.dumps(files)), 16)]


def file_state(path: Path) -> list[int]:
    """Which file a path leads to, how long it is, and when it was last written to or renamed.

    Databases write changes into a second file and stay unchanged themselves, so that file is included.
    """
    return [part for one in (path, *waiting(path)) for part in _stamp(one.stat())]


def waiting(path: Path) -> list[Path]:
    """The files next to a database, SQLite's or DuckDB's, in which changes wait for it."""
    beside = (path.with_name(f"{path.name}{ending}") for ending in ("-wal", ".wal"))
    return [one for one in beside if one.exists()]


def _stamp(stat: os.stat_result) -> list[int]:
    return [stat.st_dev, stat.st_ino, stat.st_size, stat.st_mtime_ns, stat.st_ctime_ns]


def code() -> str:
    """A digest of this version of Tacit and the packages it uses."""
    facts: list[object] = [__version__, sys.version, file_state(Path(sysconfig.get_paths()["purelib"]))]
    folders = [str(Path(__file__).parents[2])]
    while folders:
        with os.scandir(folders.pop()) as entries:
            for entry in entries:
                if entry.is_dir(follow_symlinks=False):
                    folders += [entry.path] if entry.name != "__pycache__" else []
                else:
                    status = entry.stat()
                    facts.append([entry.path, status.st_size, status.st_mtime_ns])
    return _digest(json.dumps(sorted(map(str, facts))))


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def _read(kind: Any, data: Any) -> Any:
    """A value of a type, read back from JSON."""
    if is_dataclass(kind) and isinstance(kind, type):
        hints = get_type_hints(kind)
        return kind(**{field.name: _read(hints[field.name], data[field.name]) for field in fields(kind)})
    origin, inner = get_origin(kind), get_args(kind)
    if origin in (Union, types.UnionType):
        return None if data is None else _read(next(one for one in inner if one is not type(None)), data)
    if origin is tuple:
        each = [inner[0]] * len(data) if inner[-1] is Ellipsis else inner
        return tuple(_read(one, other) for one, other in zip(each, data, strict=True))
    return data
