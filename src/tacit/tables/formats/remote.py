"""Remote files: in a store that speaks S3, or at an https address. They are copied once, and read locally."""

from __future__ import annotations

import fnmatch
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from typing import Any
from urllib.error import HTTPError, URLError
from urllib.parse import unquote, urlsplit
from urllib.request import HTTPRedirectHandler, Request, build_opener

from tacit.errors import Setting, SourceError, sentence
from tacit.loading import without_credentials
from tacit.tables.engines.duckdb.connections import private_file

SCHEMES = ("s3", "https")
_CHUNK = 1 << 22
# Give up on a server after this many seconds without a byte.
_PATIENCE = 60


def refuse_unasked(address: str) -> None:
    """Refuse a remote address that nobody has allowed to be read."""
    words = "{shown} is remote, and nothing is fetched unless you ask for it: add {remote}, or download it first"
    raise SourceError(sentence(words, shown=without_credentials(address), remote=Setting("remote", True)))


def fetched(address: str, owner: object) -> Path:
    """A private copy of what is at an address: a file, or a folder of several; it is removed with its owner."""
    place = private_file(owner, "")
    place.mkdir()
    with _reached(address):
        return _from_store(address, place) if urlsplit(address).scheme == "s3" else _from_web(address, place)


def _from_web(address: str, place: Path) -> Path:
    parts = urlsplit(address)
    name = PurePosixPath(unquote(parts.path)).name
    if not name:
        raise SourceError(f"{without_credentials(address)} names no file: give the address of one")
    target = place / name
    with build_opener(_Secure).open(Request(address), timeout=_PATIENCE) as answer, target.open("wb") as file:
        shutil.copyfileobj(answer, file, _CHUNK)
    return target


class _Secure(HTTPRedirectHandler):
    """Do not follow redirects from https to an unencrypted address."""

    def redirect_request(self, req: Any, fp: Any, code: int, msg: str, headers: Any, newurl: str) -> Any:
        if urlsplit(newurl).scheme != "https":
            fp.close()
            raise URLError("it leads on to an address that is not https")
        return super().redirect_request(req, fp, code, msg, headers, newurl)


def _from_store(address: str, place: Path) -> Path:
    from pyarrow import fs

    parts = urlsplit(address)
    endpoint = urlsplit(os.environ.get("AWS_ENDPOINT_URL_S3") or os.environ.get("AWS_ENDPOINT_URL") or "")
    at = {"endpoint_override": endpoint.netloc, "scheme": endpoint.scheme} if endpoint.netloc else {}
    store = fs.S3FileSystem(**at)
    wanted = f"{parts.netloc.rpartition('@')[2]}{parts.path}".rstrip("/")
    fixed = wanted[: next((i for i, c in enumerate(wanted) if c in "*?["), len(wanted))]
    if fixed == wanted and (info := store.get_file_info(wanted)).type == fs.FileType.File:
        return _copied(store, info.path, place / info.base_name)
    folder = wanted if fixed == wanted else fixed.rpartition("/")[0]
    inside = store.get_file_info(fs.FileSelector(folder, recursive=True, allow_not_found=True))
    files = [each.path for each in inside if each.type == fs.FileType.File]
    if fixed != wanted:
        files = [each for each in files if fnmatch.fnmatchcase(each, wanted)]
    if not files:
        raise SourceError(f"{without_credentials(address)} names nothing: check the bucket and the name")
    for each in files:
        _copied(store, each, place / PurePosixPath(each).relative_to(folder))
    return place


def _copied(store: Any, path: str, target: Path) -> Path:
    if ".." in PurePosixPath(path).parts:
        raise SourceError("a file of the store has '..' in its name: rename it")
    target.parent.mkdir(parents=True, exist_ok=True)
    with store.open_input_stream(path) as stream, target.open("wb") as file:
        shutil.copyfileobj(stream, file, _CHUNK)
    return target


@contextmanager
def _reached(address: str) -> Iterator[None]:
    """Within it, an error of the other side becomes one line that names the address, without credentials."""
    shown = without_credentials(address)
    try:
        yield
    except HTTPError as error:
        error.close()
        raise SourceError(f"cannot fetch {shown}: the server answered {error.code} {error.reason}") from None
    except OSError as error:
        reason = getattr(error, "reason", None) or error.strerror or str(error).splitlines()[0]
        raise SourceError(f"cannot fetch {shown}: {str(reason)[:200]}") from None
