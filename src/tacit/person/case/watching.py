"""What an audit saw, kept next to its case until the next one: numbers and salted hashes, but no value."""

from __future__ import annotations

import hashlib
import json
import os
import secrets
import time
from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from tacit.errors import DataError
from tacit.loading import bytes_in, json_of
from tacit.person.answers.results import AuditChanges, RungChange
from tacit.person.model.records import Fact
from tacit.tables.writing import whole_file

VERSION = 1
MOST_BYTES = 1 << 24
# In place of the hash of files that only an engine elsewhere has read.
_UNKNOWN = ""


@dataclass(frozen=True)
class SeenRung:
    """What one adversary was seen to know."""

    leakage: float
    recall: float
    facts: tuple[Fact, ...] = field(repr=False)


@dataclass(frozen=True)
class Seen:
    """What an audit saw: every adversary; of every source the number of records, and the hash of its files if known."""

    adversaries: Mapping[str, SeenRung]
    sources: Mapping[str, tuple[int, str | None]]
    person: tuple[Fact, ...] = field(repr=False)


def state_of(case: Path) -> Path:
    """Where the state of a case is kept."""
    return case.with_name(f".{case.name}.tacit-watch.json")


def watched(case: Path, audit: Seen, *, now: float | None = None) -> AuditChanges | None:
    """What changed since the last watched audit of a case, None if there was none; and remember this one.

    Guarantees
    ----------
    The file holds numbers, and hashes with its own salt: a fast hash for names, and for the person's values one that is
    slow to try. Only the owner can read the file. It is replaced as a whole.
    """
    path = state_of(case)
    before = _read(path)
    salt = secrets.token_bytes(16) if before is None else bytes.fromhex(before["salt"])
    hashed = _Hashes(salt)
    changes = None if before is None else _changes(before, audit, hashed)
    state = {
        "tacit": "watch",
        "version": VERSION,
        "salt": salt.hex(),
        "time": int(time.time() if now is None else now),
        # Adversaries that were not asked about this time keep their last state.
        "adversaries": (before or {}).get("adversaries", {})
        | {
            hashed.name(name): {
                "leakage": one.leakage,
                "recall": one.recall,
                "facts": sorted(hashed.fact(fact) for fact in one.facts),
            }
            for name, one in audit.adversaries.items()
        },
        "sources": {
            hashed.name(name): {"records": records, "file": hashed.name(digest or _UNKNOWN)}
            for name, (records, digest) in audit.sources.items()
        },
        "person": sorted(hashed.fact(fact) for fact in audit.person),
    }
    with whole_file(path, for_owner=True) as draft:
        draft.write_text(json.dumps(state, indent=1))
    return changes


class _Hashes:
    """Names and facts as salted hashes."""

    def __init__(self, salt: bytes) -> None:
        self._salt, self._facts = salt, dict[Fact, str]()

    def name(self, name: str) -> str:
        return hashlib.blake2b(name.encode(), key=self._salt, digest_size=16).hexdigest()

    def fact(self, fact: Fact) -> str:
        if fact not in self._facts:
            text = "\0".join(fact).encode()
            # There are few dates of birth: trying them all must take long.
            self._facts[fact] = hashlib.scrypt(text, salt=self._salt, n=1 << 12, r=8, p=1, dklen=16).hex()
        return self._facts[fact]


def _changes(before: Mapping[str, Any], audit: Seen, hashed: _Hashes) -> AuditChanges:
    then = {name: before["adversaries"].get(hashed.name(name)) for name in audit.adversaries}
    known_then = {each for one in then.values() if one is not None for each in one["facts"]}
    known = {fact for name, one in audit.adversaries.items() if then[name] is not None for fact in one.facts}
    sources = {name: before["sources"].get(hashed.name(name)) for name in audit.sources}
    there = {hashed.name(name) for name in audit.sources}
    counts = {name: audit.sources[name][0] - old["records"] for name, old in sources.items() if old is not None}
    return AuditChanges(
        since=datetime.fromtimestamp(before["time"], UTC).date().isoformat(),
        rungs=tuple(
            RungChange(name, None if then[name] is None else then[name]["leakage"], one.leakage)
            for name, one in audit.adversaries.items()
        ),
        new_facts=_by_label(fact for fact in known if hashed.fact(fact) not in known_then),
        gone_facts=_by_label(fact for fact in audit.person if fact not in known and hashed.fact(fact) in known_then),
        new_sources=tuple(name for name, old in sources.items() if old is None),
        gone_sources=sum(name not in there for name in before["sources"]),
        new_records={name: more for name, more in counts.items() if more > 0},
        gone_records={name: -more for name, more in counts.items() if more < 0},
        rewritten=tuple(
            name
            for name, old in sources.items()
            if old is not None and not counts[name] and _differs(hashed, old["file"], audit.sources[name][1])
        ),
        same_person=set(before["person"]) == {hashed.fact(fact) for fact in audit.person},
    )


def _differs(hashed: _Hashes, before: str, digest: str | None) -> bool:
    """Whether the files of a source are others than before, as far as both are known."""
    return digest is not None and before not in (hashed.name(digest), hashed.name(_UNKNOWN))


def _by_label(facts: Any) -> dict[str, int]:
    return dict(sorted(Counter(label for label, _ in facts).items()))


def _read(path: Path) -> dict[str, Any] | None:
    if not path.exists():
        return None
    if path.lstat().st_uid != os.geteuid():
        raise DataError(f"{path} is somebody else's, who may have made it up: move the case into a folder of your own")
    try:
        state = json_of(bytes_in(path, "state of an audit", most=MOST_BYTES))
        if _sound(state):
            return dict(state)
    except ValueError:
        pass
    raise DataError(f"{path} is damaged, or of another version: delete it, and the next audit starts anew")


def _sound(state: Any) -> bool:
    """Whether a state is as :func:`watched` writes it."""
    try:
        bytes.fromhex(state["salt"])
        datetime.fromtimestamp(state["time"], UTC)
        rungs, sources = state["adversaries"].values(), state["sources"].values()
        return (
            state["version"] == VERSION
            and len(state["salt"]) == 32
            and all(isinstance(one["leakage"], float | int) and _texts(one["facts"]) for one in rungs)
            and all(isinstance(one["records"], int) and isinstance(one["file"], str) for one in sources)
            and _texts(state["person"])
        )
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError, OSError):
        return False


def _texts(values: Collection[Any]) -> bool:
    return isinstance(values, list) and all(isinstance(each, str) for each in values)
