"""Names lead into the folder and nowhere else; what is sent replaces nothing."""

from __future__ import annotations

import io
import json
import os
import stat
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from served_page import Page
from tacit.errors import ArgumentError
from tacit.web import uploads
from tacit.web.files import Folder, safe_name
from tacit.web.uploads import unpacked

JSON = {"content-type": "application/json"}
TRICKS = [
    *("..", "../people.csv", "a/../../people.csv", "/etc/passwd", "//etc/passwd", ".", "./people.csv", "a//b", ""),
    *(".tacit/jobs", ".hidden.csv", "sub/.hidden.csv", "people.csv\0", "..\\people.csv", "C:\\people.csv"),
    *(
        "\udcff.csv",
        "a" * 300,
        "a/" * 600 + "b",
        "~/people.csv\n/../..",
        "link.csv",
        "linked/secret.csv",
        "pipe",
        "dead",
    ),
]


@pytest.fixture
def tricky(folder: Path) -> Folder:
    """A folder with links out of it, a pipe and a hidden file."""
    outside = folder.parent / "outside"
    outside.mkdir()
    (outside / "secret.csv").write_text("s\n1\n")
    (folder / "link.csv").symlink_to(outside / "secret.csv")
    (folder / "linked").symlink_to(outside)
    (folder / "dead").symlink_to(outside / "nothing")
    (folder / ".hidden.csv").write_text("h\n1\n")
    os.mkfifo(folder / "pipe")
    return Folder.at(folder)


@pytest.mark.parametrize("name", TRICKS)
def test_no_name_leads_out_of_the_folder(tricky: Folder, name: str) -> None:
    with pytest.raises(ArgumentError):
        tricky.place(name)


def test_no_field_of_a_request_leads_out_of_the_folder(tricky: Folder, page: Page) -> None:
    # A path is one path however its slashes are written.
    for name in set(TRICKS) - {"./people.csv", "a//b"}:
        asked: list[tuple[str, dict[str, Any]]] = [
            ("audit", {"source": name, "secret": "race"}),
            ("audit", {"source": "people.csv", "secret": "race", "labels": name}),
            ("protect", {"source": "people.csv", "secret": "race", "out": name}),
            ("verify", {"release": "r", "against": name}),
            ("person/audit", {"case": name}),
        ]
        for verb, request in asked:
            # Half a character is written as JSON writes it.
            answer = page.script.post(f"/api/{verb}", content=json.dumps(request), headers=JSON)
            assert answer.status_code == 400, (verb, request)
    levels = {"source": "people.csv", "secret": "race", "levels": {"age": "../x.csv"}}
    assert page.script.post("/api/audit", json=levels).status_code == 400
    assert page.script.get("/api/jobs").json() == []


@pytest.mark.parametrize(
    "name", ["%2e%2e/x", "..%2fpeople.csv", "%2fetc%2fpasswd", ".tacit", "link.csv", "pipe", "%00"]
)
def test_no_address_leads_out_of_the_folder(tricky: Folder, page: Page, name: str) -> None:
    assert page.script.get(f"/api/files/{name}").status_code in (400, 404)


def test_a_link_within_the_folder_is_followed(folder: Path) -> None:
    (folder / "same.csv").symlink_to("people.csv")
    assert Folder.at(folder).there("same.csv").read_text().startswith("age")


def test_files_are_listed_with_what_they_are_and_nothing_hidden(tricky: Folder, page: Page) -> None:
    root = tricky.root
    (root / "release").mkdir()
    (root / "release/certificate.json").write_text("{}")
    (root / "faces").mkdir()
    (root / "faces/1.png").write_bytes(b"")
    (root / "mine").mkdir()
    (root / "mine/case.yaml").write_text("person: {}\nsources: {}\n")
    (root / "notes.yaml").write_text("a: 1\n")
    (root / "words.tacit").write_bytes(b"")
    (root / os.fsdecode(b"\xff.csv")).write_bytes(b"a\n1\n")
    listed = {each["name"]: each["kind"] for each in page.script.get("/api/files").json()}
    assert listed == {
        "people.csv": "table",
        "release": "release",
        "faces": "images",
        "mine/case.yaml": "case",
        "notes.yaml": "other",
        "words.tacit": "model",
    }


def test_a_file_that_is_sent_appears_under_its_name_for_its_owner_alone(page: Page) -> None:
    answer = page.script.post("/api/files", files={"file": ("new.csv", b"a,b\n1,2\n")})
    assert answer.json() == {"name": "new.csv"}
    written = page.folder / "new.csv"
    assert written.read_bytes() == b"a,b\n1,2\n"
    assert stat.S_IMODE(written.stat().st_mode) == 0o600
    assert page.script.get("/api/files/new.csv").content == b"a,b\n1,2\n"


def test_nothing_is_ever_replaced(page: Page) -> None:
    before = (page.folder / "people.csv").read_bytes()
    names = [page.script.post("/api/files", files={"file": ("people.csv", b"x")}).json()["name"] for _ in range(2)]
    assert names == ["people (2).csv", "people (3).csv"]
    assert (page.folder / "people.csv").read_bytes() == before


@pytest.mark.parametrize(
    ("typed", "name"),
    [
        ("../../etc/passwd", "passwd"),
        ("C:\\Users\\me\\people.csv", "people.csv"),
        (".tacit", "tacit"),
        ("...", "file"),
        ("", "file"),
        ("a\0b\n\x1b[31m.csv", "ab[31m.csv"),
        ("<script>alert(1)</script>.csv", "script.csv"),
        ('x" onload="a.csv', "x onload=a.csv"),
        ("\u202egnp.csv", "gnp.csv"),
        ("é" * 300 + ".csv", "é" * 98 + ".csv"),
        ("Zürich 2024 (final).csv", "Zürich 2024 (final).csv"),
    ],
)
def test_a_hostile_name_becomes_a_plain_one(typed: str, name: str) -> None:
    assert safe_name(typed) == name
    assert safe_name(name) == name


def test_a_file_that_is_too_large_is_refused_with_what_to_do_and_leaves_nothing(
    page: Page, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(uploads, "MOST_UPLOADED", 1 << 20)
    monkeypatch.setattr("tacit.web.api.files.MOST_UPLOADED", 1 << 20)
    monkeypatch.setitem(uploads.received.__kwdefaults__, "most", 1 << 20)
    before = sorted(page.folder.rglob("*"))
    large = b"x" * (1 << 21)

    def in_pieces() -> Iterator[bytes]:
        yield b'--b\r\ncontent-disposition: form-data; name="file"; filename="a.csv"\r\n\r\n'
        for at in range(0, len(large), 1 << 16):
            yield large[at : at + (1 << 16)]

    form = {"content-type": "multipart/form-data; boundary=b"}
    told = page.script.post("/api/files", files={"file": ("a.csv", large)})
    untold = page.script.post("/api/files", content=in_pieces(), headers=form)
    for answer in (told, untold):
        assert answer.status_code == 413
        assert "copy it into the folder yourself" in answer.json()["message"]
    assert sorted(page.folder.rglob("*")) == before


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        (b"", "multipart/form-data"),
        (b"", "multipart/form-data; boundary=b"),
        (b"--b\r\n", "multipart/form-data; boundary=b"),
        (
            b'--b\r\ncontent-disposition: form-data; name="file"\r\n\r\nx\r\n--b--\r\n',
            "multipart/form-data; boundary=b",
        ),
        (b"\x00\xff" * 50, "multipart/form-data; boundary=b"),
        (b"{}", "application/json"),
        (b"x", "multipart/form-data; boundary=" + "b" * 500),
    ],
)
def test_a_form_that_is_damaged_or_without_a_file_is_refused(page: Page, body: bytes, kind: str) -> None:
    before = sorted(page.folder.rglob("*"))
    answer = page.script.post("/api/files", content=body, headers={"content-type": kind})
    assert answer.status_code == 400, answer.text
    assert sorted(page.folder.rglob("*")) == before


def test_what_is_downloaded_is_never_shown_as_a_page(page: Page) -> None:
    (page.folder / "x.html").write_text("<script>alert(1)</script>")
    answer = page.script.get("/api/files/x.html")
    assert answer.headers["content-type"] == "application/octet-stream"
    assert answer.headers["content-disposition"] == 'attachment; filename="x.html"'


def test_a_release_is_downloaded_without_what_is_for_its_owner_alone(page: Page) -> None:
    release = page.folder / "release"
    (release / "private").mkdir(parents=True)
    for name in ("certificate.json", "data.csv", "private/key.txt"):
        (release / name).write_text("{}")
    (release / "out.csv").symlink_to("/etc/passwd")
    answer = page.script.get("/api/files/release")
    with zipfile.ZipFile(io.BytesIO(answer.content)) as archive:
        assert archive.namelist() == ["release/certificate.json", "release/data.csv"]
    assert answer.headers["content-disposition"] == 'attachment; filename="release.zip"'
    assert not list((page.folder / ".tacit").glob("zip-*"))
    (page.folder / "sub").mkdir()
    assert page.script.get("/api/files/sub").status_code == 400


@pytest.mark.parametrize("name", ["../out.json", "/out.json", "a/../../out.json", "a\\..\\out.json"])
def test_an_archive_unpacks_nowhere_else(tmp_path: Path, name: str) -> None:
    archive = tmp_path / "r.zip"
    with zipfile.ZipFile(archive, "w") as made:
        made.writestr("certificate.json", "{}")
        made.writestr(name, "{}")
    with pytest.raises(ArgumentError):
        unpacked(archive, tmp_path / "deep/er")
    assert not list(tmp_path.rglob("out.json"))


def test_an_archive_without_one_release_or_damaged_is_refused(tmp_path: Path) -> None:
    (tmp_path / "no.zip").write_bytes(b"PK nothing")
    with zipfile.ZipFile(tmp_path / "empty.zip", "w") as made:
        made.writestr("a.txt", "x")
    for name in ("no.zip", "empty.zip"):
        with pytest.raises(ArgumentError):
            unpacked(tmp_path / name, tmp_path / f"{name}.d")


def test_a_folder_that_is_none_or_whose_own_place_is_taken_is_refused(folder: Path) -> None:
    with pytest.raises(ArgumentError, match="is not a folder"):
        Folder.at(folder / "people.csv")
    (folder / ".tacit").symlink_to(folder.parent)
    with pytest.raises(ArgumentError, match="move it away"):
        _ = Folder.at(folder).hidden


def test_an_archive_whose_contents_are_damaged_or_locked_is_refused_in_words(tmp_path: Path) -> None:
    whole = io.BytesIO()
    with zipfile.ZipFile(whole, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("r/certificate.json", "{}" * 2_000)
    data = bytearray(whole.getvalue())
    start = 30 + len("r/certificate.json")
    damaged = bytes([*data[:start], *(byte ^ 0xFF for byte in data[start : start + 8]), *data[start + 8 :]])
    locked = bytearray(data)
    for head, flags in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        locked[data.index(head) + flags] |= 1
    for name, contents, why in (("damaged.zip", damaged, "cannot unpack"), ("locked.zip", bytes(locked), "password")):
        (tmp_path / name).write_bytes(contents)
        with pytest.raises(ArgumentError, match=why):
            unpacked(tmp_path / name, tmp_path / f"{name}.d")
