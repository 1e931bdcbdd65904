"""Only the owner of the folder is answered: by the token, on this machine, from our own page."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

from served_page import Page
from tacit.errors import ArgumentError, EngineError
from tacit.web.security import HEADERS, MOST_ASKED
from tacit.web.serving import _listening

ASK = {"source": "people.csv", "secret": "race"}


@pytest.fixture(scope="module")
def page(shared: Page) -> Page:
    return shared


def test_without_a_token_nothing_is_answered_but_how_to_get_in(page: Page) -> None:
    stranger = page.client()
    for address in ("/", "/api/files", "/api/jobs", "/api/openapi.json", "/static/x.js", "/nonsense", "/api/nonsense"):
        answer = stranger.get(address)
        assert answer.status_code == 401
        assert "the address that the server printed" in answer.text
        assert "people" not in answer.text
    assert stranger.post("/api/audit", json=ASK).status_code == 401
    assert page.script.get("/api/jobs").json() == []


@pytest.mark.parametrize("token", ["", "x", "\udcff", "ä" * 40, "%00", "a" * 10_000])
def test_a_wrong_token_opens_nothing_in_the_address_or_the_header(page: Page, token: str) -> None:
    stranger = page.client()
    assert stranger.get("/", params={"token": token.encode("utf-8", "replace").decode()}).status_code == 401
    header = f"token {token}".encode("utf-8", "replace")
    assert stranger.get("/api/files", headers={"authorization": header}).status_code == 401
    assert not stranger.cookies


def test_the_token_becomes_a_cookie_and_the_address_is_cleaned(page: Page) -> None:
    browser = page.client()
    answer = browser.get(f"/table/people.csv?token={page.keys.token}&secret=race%20x")
    assert (answer.status_code, answer.headers["location"]) == (303, "/table/people.csv?secret=race+x")
    cookie = answer.headers["set-cookie"]
    assert {"HttpOnly", "SameSite=strict", "Path=/"} <= set(cookie.split("; "))
    assert page.keys.token not in cookie
    assert browser.get("/api/files").status_code == 200


def test_an_address_with_a_token_leads_nowhere_else(page: Page) -> None:
    answer = page.client().get(f"http://127.0.0.1:8765//evil.example/%5Cevil?token={page.keys.token}")
    assert answer.headers["location"] == "/evil.example/%5Cevil"


def test_a_code_for_the_browser_opens_the_page_once(page: Page) -> None:
    code = page.keys.code()
    assert page.client().get(f"/?token={code}").status_code == 303
    assert page.client().get(f"/?token={code}").status_code == 401


def test_a_cookie_that_was_made_up_or_is_of_another_server_opens_nothing(page: Page, start: Any, folder: Path) -> None:
    other = start(folder)
    name = page.app.cookie
    for value in ("", "x", page.keys.token, other.keys.cookie):
        assert page.client(cookies={name: value}).get("/api/files").status_code == 401
    assert page.client(cookies={name: page.keys.cookie}).get("/api/files").status_code == 200


@pytest.mark.parametrize(
    "host",
    ["evil.example", "evil.example:8765", "127.0.0.1", "127.0.0.1:80", "127.0.0.1.evil.example:8765", "", "[::1]:8765"],
)
def test_a_foreign_host_is_refused_with_token_and_cookie(page: Page, host: str) -> None:
    for client in (page.script, page.browser()):
        assert client.get("/api/files", headers={"host": host}).status_code == 403
    assert page.client().get(f"/?token={page.keys.token}", headers={"host": host}).status_code == 403


def test_both_names_of_this_machine_are_ours(page: Page) -> None:
    assert page.script.get("/api/files", headers={"host": "localhost:8765"}).status_code == 200


@pytest.mark.parametrize(
    "headers",
    [
        {"origin": "http://evil.example"},
        {"origin": "null"},
        # For a browser another port of this machine is the same site, and gets our cookie sent.
        {"origin": "http://127.0.0.1:9999", "sec-fetch-site": "same-site"},
        {"sec-fetch-site": "same-site"},
        {"sec-fetch-site": "cross-site"},
        {"sec-fetch-site": "none"},
        {},
    ],
)
def test_another_page_changes_nothing_with_our_cookie(page: Page, headers: dict[str, str]) -> None:
    browser = page.client(cookies={page.app.cookie: page.keys.cookie}, headers=headers)
    assert browser.post("/api/audit", json=ASK).status_code == 403
    assert browser.delete("/api/jobs/x").status_code == 403
    assert browser.post("/api/files", files={"file": ("a.csv", b"a\n1\n")}).status_code == 403
    assert page.script.get("/api/jobs").json() == []


@pytest.mark.parametrize("site", ["same-site", "cross-site"])
def test_another_page_reads_nothing_and_shows_nothing_of_ours(page: Page, site: str) -> None:
    browser = page.client(cookies={page.app.cookie: page.keys.cookie}, headers={"sec-fetch-site": site})
    for mode, dest in (("no-cors", "image"), ("cors", "empty"), ("navigate", "iframe")):
        headers = {"sec-fetch-mode": mode, "sec-fetch-dest": dest}
        assert browser.get("/api/files", headers=headers).status_code == 403
    # A link that the owner follows shows the page to the owner.
    opened = {"sec-fetch-mode": "navigate", "sec-fetch-dest": "document"}
    assert browser.get("/", headers=opened).status_code == 200


def test_our_own_page_may_do_everything(folder: Path, start: Any) -> None:
    browser = start(folder).browser()
    assert browser.post("/api/audit", json=ASK).status_code == 202
    assert browser.post("/api/files", files={"file": ("a.csv", b"a\n1\n")}).status_code == 200


def test_a_form_of_another_page_cannot_pass_for_json(page: Page) -> None:
    answer = page.script.post("/api/audit", content=b'{"source": "people.csv"}', headers={"content-type": "text/plain"})
    assert answer.status_code == 422
    assert page.script.get("/api/jobs").json() == []


@pytest.mark.parametrize("address", ["/", "/api/files", "/api/nonsense", "/nonsense"])
def test_every_answer_forbids_what_a_page_could_be_made_to_do(page: Page, address: str) -> None:
    for client in (page.script, page.client()):
        answer = client.get(address)
        assert {name: answer.headers[name] for name in HEADERS} == HEADERS
    policy = HEADERS["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy


def test_a_request_that_is_too_large_is_refused_before_it_is_read(page: Page) -> None:
    answer = page.script.post("/api/audit", json={"source": "x" * MOST_ASKED})
    assert answer.status_code == 413
    assert answer.json() == {"message": "a request has at most 1 mb", "code": 2}


def test_there_are_no_websockets(page: Page) -> None:
    from starlette.websockets import WebSocketDisconnect

    with pytest.raises(WebSocketDisconnect), page.script.websocket_connect("/"):
        pass


def test_nothing_is_told_to_anybody_whatever_the_environment_says(
    start: Any, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FASTAPI_OTEL_AUTO_CONFIGURE", "true")
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "http://evil.example")
    told = start(folder).app.app._telemetry
    assert not any(told[name] for name in ("tracing", "metrics", "logs", "operation_spans", "auto_configure"))


def test_the_server_listens_on_this_machine_alone_and_takes_the_next_port() -> None:
    with _listening("127.0.0.1", None) as one, _listening("127.0.0.1", None) as two:
        assert {one.getsockname()[0], two.getsockname()[0]} == {"127.0.0.1"}
        port = one.getsockname()[1]
        assert port != two.getsockname()[1]
        with pytest.raises(ArgumentError, match="is taken"):
            _listening("127.0.0.1", port)


def test_without_fastapi_it_says_what_to_install(
    tacit_command: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "uvicorn", None)
    code, _, said = tacit_command("serve", str(tmp_path))
    assert code == EngineError.exit_code
    assert "pip install 'tacit[web]'" in said


def test_the_token_is_in_no_repr(page: Page) -> None:
    assert page.keys.token not in repr(page.keys)
    assert page.keys.cookie not in repr(page.keys)
