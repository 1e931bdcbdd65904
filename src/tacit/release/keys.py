"""Fingerprints of files, the salt that keeps the original's from being guessed, and the key of the draws."""

from __future__ import annotations

import hashlib
import secrets
from pathlib import Path

from tacit.errors import SourceError
from tacit.loading import file_sha256, text_in

# The size of seed that scikit-learn and JAX both accept.
SEED_BITS = 31
LABELS = "labels.csv"


def new_salt() -> bytes:
    """A salt from the system's secure source."""
    return secrets.token_bytes(32)


def seed_or_secure(random_state: int | None) -> int:
    """The seed for training: one that can be guessed would let anybody test secrets against published estimates."""
    return secrets.randbits(SEED_BITS) if random_state is None else random_state


def files_sha256(directory: Path, data_file: str) -> str:
    """Fingerprint of a file, or of all files of a folder, and of the labels with it: their names and their bytes."""
    place = directory / data_file
    files = [place] if place.is_file() else sorted(place.rglob("*"))
    if (directory / LABELS).exists():
        files.append(directory / LABELS)
    digest = hashlib.sha256()
    for file in files:
        name = file.relative_to(place).as_posix() if file.is_relative_to(place) and file != place else file.name
        # A folder counts by its name, so that an empty one changes the fingerprint, too.
        digest.update(f"{name}\0{file_sha256(file) if file.is_file() else 'folder'}\n".encode())
    return digest.hexdigest()


def salted(sha256: str | None, salt: bytes) -> str | None:
    """The fingerprint of the original in the form that may be published.

    The plain one would let anybody who knows all but a few bits of the original, say all but the secrets of a small
    table, try every possibility; the salt stays with the owner.
    """
    return None if sha256 is None else hashlib.sha256(salt + bytes.fromhex(sha256)).hexdigest()


def committed(key: bytes, salt: bytes) -> str:
    """What the certificate publishes about the key: it commits to the key without revealing it."""
    return hashlib.sha256(salt + key).hexdigest()


def secret_bytes_in(path: Path) -> bytes | None:
    """The salt or the key that ``protect`` wrote; None if the file does not exist."""
    if not path.exists():
        return None
    try:
        return bytes.fromhex(text_in(path, "salt or key").strip())
    except ValueError as error:
        raise SourceError(f"{path} is damaged: it should hold what protect wrote, in hexadecimal digits") from error
