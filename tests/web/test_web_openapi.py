"""Whatever is sent to the addresses that OpenAPI describes is answered or refused, and no worse."""

from __future__ import annotations

import random
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings

from served_page import Page
from sizes import many

QUIET = list(HealthCheck)
HOST = "127.0.0.1:8765"


@pytest.fixture(scope="module")
def page(shared: Page) -> Page:
    return shared


def test_no_address_fails_whatever_is_sent(page: Page, monkeypatch: pytest.MonkeyPatch) -> None:
    import schemathesis

    # What is asked waits for ever, for workers are tested elsewhere.
    monkeypatch.setattr(page.desk, "at_once", 0)
    headers = {"authorization": f"token {page.keys.token}", "host": HOST}
    described = schemathesis.openapi.from_dict(page.script.get("/api/openapi.json").json())
    described.app = page.app
    operations = [each.ok() for each in described.get_all_operations()]
    assert len(operations) > 20
    # Events go on until the job has ended.
    operations = [each for each in operations if not each.path.endswith("/events")]
    for operation in random.Random(0).sample(operations, many(4, len(operations))):

        @settings(max_examples=many(3, 200), database=None, suppress_health_check=QUIET, deadline=None)
        @given(operation.as_strategy())
        def tried(case: Any) -> None:
            answer = case.call(base_url=f"http://{HOST}", headers=headers)
            assert answer.status_code < 500, (case.as_curl_command(), answer.text)

        tried()


@pytest.mark.parametrize("body", [b"", b"{", b"[]", b"null", b"\xff", b'{"source": "\\ud800"}', b'{"source": ' * 9000])
def test_no_body_fails(page: Page, body: bytes) -> None:
    for address in ("/api/audit", "/api/protect", "/api/person/dip"):
        answer = page.script.post(address, content=body, headers={"content-type": "application/json"})
        assert 400 <= answer.status_code < 500, answer.text
        assert set(answer.json()) == {"message", "code"}


@pytest.mark.parametrize("number", ["1e999", "-1e999", "NaN", "Infinity", "9" * 5000, "1" + "0" * 400])
def test_no_number_fails(page: Page, number: str) -> None:
    body = f'{{"source": "people.csv", "secret": "race", "epsilon": {number}, "least": {number}}}'.encode()
    for address in ("/api/audit", "/api/protect"):
        answer = page.script.post(address, content=body, headers={"content-type": "application/json"})
        assert 400 <= answer.status_code < 500, answer.text


def test_the_description_needs_the_token_and_names_no_other_place(page: Page) -> None:
    assert page.client().get("/api/openapi.json").status_code == 401
    text = page.script.get("/api/openapi.json").text
    assert "http://" not in text
    assert "https://" not in text
    for address in ("/docs", "/redoc"):
        assert page.script.get(address).status_code == 404
