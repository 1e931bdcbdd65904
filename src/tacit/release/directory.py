"""A release is a directory that appears complete or not at all, and replaces nothing but a release."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeVar

from tacit.errors import ArgumentError, Setting, SourceError, sentence
from tacit.loading import checked_path, file_sha256
from tacit.release.certificate import CERTIFICATE, Certificate, read_certificate
from tacit.release.codec import text_of
from tacit.release.data import why_not_certified
from tacit.release.keys import LABELS, new_salt, salted
from tacit.release.levels import LEVELS
from tacit.tables.writing import at, beside, drafted, has_appeared, locked, os_errors, restore_or_clean, synced

REPORT, CHANNEL = "report.html", "channel.json"
PRIVATE, SALT, KEY, README = "private", "salt.txt", "key.txt", "README.txt"
IGNORED, ALL = ".gitignore", "*"

C = TypeVar("C", bound=Certificate)


@dataclass(frozen=True)
class ReleaseDraft:
    """A release in the making: the hidden directory that it is written to, the salt of its fingerprints, its target."""

    place: Path
    salt: bytes
    target: Path

    @property
    def private(self) -> Path:
        """The folder that only the owner may enter."""
        folder = self.place / PRIVATE
        folder.mkdir(mode=0o700, exist_ok=True)
        return folder

    def salted(self, sha256: str | None) -> str | None:
        """A fingerprint in the form that may be published."""
        return salted(sha256, self.salt)

    def keep(self, name: str, text: str) -> Path:
        """Write a text for the owner only."""
        path = self.private / name
        path.touch(mode=0o600)
        path.write_text(text, "utf-8")
        return path

    def publish(self, name: str, text: str) -> None:
        """Write a text next to the data, for everybody."""
        (self.place / name).write_text(text, "utf-8")

    @contextmanager
    def for_workers(self) -> Iterator[Path]:
        """A folder on the same disk as the release, which whoever may enter the release's own folder may write to.

        Unlike the draft, which only this user may enter. What is left in it when the block ends is removed.
        """
        with drafted(self.target) as shared:
            shared.mkdir()
            yield shared

    @property
    def channel(self) -> Path:
        """Where the channel of a table belongs, if something is drawn."""
        return self.place / CHANNEL

    @property
    def report(self) -> Path:
        """Where the page belongs."""
        return self.place / REPORT

    def sealed(self, certificate: C, readme: Sequence[str]) -> C:
        """Write what goes with data and report: the certificate, with the report's fingerprint, the salt and a README.

        Guarantees
        ----------
        Everything in the owner's folder can be read only by the owner, and git leaves it out of commits.
        """
        levels = self.place / LEVELS
        output = replace(
            certificate.output,
            report_sha256=file_sha256(self.report),
            levels_sha256=file_sha256(levels) if levels.exists() else None,
        )
        certificate = replace(certificate, output=output)
        (self.place / CERTIFICATE).write_text(text_of_certificate(certificate), "utf-8")
        at("certificate written")
        self.keep(SALT, self.salt.hex() + "\n")
        self.keep(README, "\n".join(readme) + "\n")
        self.keep(IGNORED, f"{ALL}\n")
        for file in self.private.iterdir():
            file.chmod(0o600)
        at("sealed")
        return certificate


def text_of_certificate(certificate: Certificate) -> str:
    """A certificate as ``certificate.json`` holds it."""
    return text_of(certificate, indent=2)


def refuse_target(out: str | Path, *, original: Path | None, overwrite: bool) -> None:
    """Refuse, before anything is computed, a directory that a release may not be written to.

    Refused are: a directory that holds the original, or is in it; a file; and an existing directory that is not empty,
    unless it is to be replaced and is a release that Tacit can read, with nothing in it that Tacit did not write.
    """
    # A link is followed: its target is what gets replaced.
    target = Path(os.path.realpath(checked_path(out)))
    if original is not None and original.resolve().is_relative_to(target.resolve()):
        raise ArgumentError(f"{out} holds the original {original.name}: choose another directory for the release")
    if original is not None and original.is_dir() and target.is_relative_to(original.resolve()):
        raise ArgumentError(f"{out} is inside the original {original.name}: choose another directory for the release")
    _refuse_existing(target, overwrite)


@contextmanager
def new_release(out: str | Path, *, overwrite: bool = False) -> Iterator[ReleaseDraft]:
    """A draft that becomes the release ``out`` when the block ends well; see :func:`whole_directory`."""
    with whole_directory(out, overwrite=overwrite) as place, os_errors(Path(out)):
        yield ReleaseDraft(place, new_salt(), Path(os.path.realpath(out)))


@contextmanager
def whole_directory(path: str | Path, *, overwrite: bool = False) -> Iterator[Path]:
    """A directory that appears under its name when the block ends well, and not at all otherwise.

    Yields a directory to write into, within a hidden sibling that nobody else may enter. With ``overwrite`` an
    existing release stays until the new one is complete; anything else is never replaced. What a killed process left
    behind is removed by the next call for the same path.
    """
    target = Path(os.path.realpath(path))
    with os_errors(target):
        _refuse_existing(target, overwrite)
        target.parent.mkdir(parents=True, exist_ok=True)
    with locked(target), drafted(target) as draft:
        with os_errors(target):
            restore_or_clean(target)
            _refuse_existing(target, overwrite)
        with os_errors(target):
            draft.mkdir(mode=0o700)
            release = draft / "release"
            release.mkdir(mode=0o755)
            at("draft made")
        yield release
        with os_errors(target):
            for file in sorted(release.rglob("*")):
                synced(file)
            synced(release)
            at("synced")
            # Something else may have appeared there since the work began.
            _refuse_existing(target, overwrite)
            _put_in_place(release, target)


def copied_release(release: str | Path, out: str | Path, *, overwrite: bool = False) -> None:
    """Put a copy of a release at ``out``; see :func:`whole_directory`.

    Guarantees
    ----------
    What is copied is what was certified, with nothing added; otherwise it is refused. What is private stays private.
    """
    place = Path(release)
    with whole_directory(out, overwrite=overwrite) as draft, os_errors(Path(out)):
        if not place.is_dir():
            raise SourceError(f"the release at {place} is gone: make it again")
        shutil.copytree(place, draft, dirs_exist_ok=True)
        why = _why_not_ours(draft)
        if why is not None:
            raise SourceError(f"{place} is not as it was certified: {why}. Make the release again")


def _refuse_existing(target: Path, overwrite: bool) -> None:
    if not target.exists() and not target.is_symlink():
        return
    if not target.is_dir():
        raise ArgumentError(f"{target} is a file: choose another name for the directory")
    if not any(target.iterdir()):
        return
    if not overwrite:
        raise ArgumentError(
            sentence(
                "{target} already exists and is not empty: choose another name, or replace it ({overwrite})",
                target=target,
                overwrite=Setting("overwrite", True),
            )
        )
    why = _why_not_ours(target)
    if why is not None:
        raise ArgumentError(
            f"{target} is not just a Tacit release, so it is not overwritten: {why}. Choose another directory"
        )


def _why_not_ours(target: Path) -> str | None:
    """Why a directory may not be replaced: its certificate cannot be read, or it holds more than the release."""
    try:
        certificate = read_certificate(target)
    except SourceError as error:
        return str(error)
    output = certificate.output
    data = target / output.file
    if certificate.of_images:
        if why_not_certified(target, certificate) is not None:
            return "its images are not those that were certified"
    elif data.exists() and why_not_certified(target, certificate) is not None:
        return f"{data.name} is not the data that was certified"
    papers = ((REPORT, output.report_sha256), (CHANNEL, output.channel_sha256), (LEVELS, output.levels_sha256))
    for name, sha256 in papers:
        path = target / name
        if path.exists() and not (path.is_file() and file_sha256(path) == sha256):
            return f"{name} is not the one that was written"
    return next((f"Tacit did not write {path}" for path in strangers(target, certificate)), None)


def strangers(target: Path, certificate: Certificate) -> Iterator[Path]:
    """The paths in a release that Tacit did not write, relative to it; images may have any name."""
    data, folders = target / certificate.output.file, {target / PRIVATE}
    files = {data, *(target / name for name in (CERTIFICATE, REPORT, CHANNEL, LEVELS))}
    files |= {target / PRIVATE / name for name in certificate.private_files}
    if certificate.output.parts:
        files |= {data / part.name for part in certificate.output.parts}
        folders |= {data}
    if certificate.of_images:
        # Images whose names were kept may be in folders; the fingerprint covers all their names.
        within = set(data.rglob("*"))
        files |= {target / LABELS, *within}
        folders |= {data, *within}
    for path in sorted(target.rglob("*")):
        if path.is_symlink() or path not in (folders if path.is_dir() else files):
            yield path.relative_to(target)


def shared_with(folder: Path) -> str | None:
    """Why the owner's private folder would be published with a release; None if it would not, or does not exist.

    A commit does not keep modes, so a checkout opens the folder to everybody; that gives it away as well.
    """
    private = folder / PRIVATE
    if not private.is_dir():
        return None
    if os.name == "posix" and private.stat().st_mode & 0o077:
        return "others can enter it, so it was committed or copied"
    with suppress(OSError, UnicodeDecodeError):
        if ALL in (private / IGNORED).read_text("utf-8").split():
            return None
    return f"its {IGNORED} is gone, so git would include it"


def _put_in_place(release: Path, target: Path) -> None:
    old = None
    if target.exists():
        old = beside(target, "old")
        os.rename(target, old)
    try:
        at("name is free")
        os.rename(release, target)
    except BaseException:
        if old is not None:
            with suppress(OSError):
                os.rename(old, target)
        raise
    has_appeared(target)
    at("new moved in")
    synced(target.parent)
    if old is not None:
        # The draft is removed with the old release in it; even if that is interrupted, the old one is never put back.
        os.rename(old, release.parent / "old")
        at("old given up")
