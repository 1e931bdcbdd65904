"""Who may ask: this machine's owner, by a token, in a page of ours. Everybody else is refused before anything is read.

The server listens only on the loopback address. That is not enough: any page in the owner's browser can send requests
there, even under a name of its own (DNS rebinding), and so can other users of the machine.
"""

from __future__ import annotations

import secrets
from collections.abc import MutableMapping
from dataclasses import dataclass, field
from html import escape
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl, urlencode

from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.requests import cookie_parser
from starlette.responses import HTMLResponse, RedirectResponse, Response

from tacit.web.answering import Answer

if TYPE_CHECKING:
    from fastapi import FastAPI
    from starlette.types import Message, Receive, Scope, Send

ADDRESS = "127.0.0.1"
# A request is a few settings; files are sent to one place, which has its own limit.
MOST_ASKED = 1 << 20
UPLOADS = "/api/files"
READING = ("GET", "HEAD", "OPTIONS")

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "font-src 'self'; frame-src 'self'; frame-ancestors 'self'; form-action 'self'; base-uri 'none'"
)
# Added to a report's own policy: its origin is opaque, and only our pages may frame it.
FRAMED = "sandbox allow-scripts; frame-ancestors 'self'"
HEADERS = {
    "content-security-policy": POLICY,
    "x-content-type-options": "nosniff",
    "x-frame-options": "SAMEORIGIN",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "cache-control": "no-store",
}


@dataclass(frozen=True)
class Keys:
    """What opens the page: the token of this run, codes that open it once, and the cookie they are exchanged for."""

    token: str = field(default_factory=lambda: secrets.token_urlsafe(32), repr=False)
    cookie: str = field(default_factory=lambda: secrets.token_urlsafe(32), repr=False)
    once: set[str] = field(default_factory=set, repr=False)

    def code(self) -> str:
        """A code that opens the page once, for the browser's command line, which other users of the machine can see."""
        code = secrets.token_urlsafe(32)
        self.once.add(code)
        return code

    def opens(self, typed: str) -> bool:
        """Whether this is the token, or a code that nobody has used."""
        spent = next((code for code in self.once if _same(code, typed)), None)
        if spent is not None:
            self.once.discard(spent)
            return True
        return _same(self.token, typed)


def _same(one: str, other: str) -> bool:
    return secrets.compare_digest(one.encode(), other.encode("utf-8", "replace"))


class Guard:
    """Stands before the application.

    Guarantees
    ----------
    A request reaches the application only if its Host is this server's; if it has the token, or the cookie that the
    token was exchanged for; and, with a cookie, if no other origin made the browser send it. Every answer, refusals
    included, carries the headers above.
    """

    def __init__(self, app: FastAPI, *, keys: Keys, port: int) -> None:
        self.app, self.keys = app, keys
        self.hosts = frozenset(f"{name}:{port}" for name in (ADDRESS, "localhost"))
        # Cookies belong to a host, not to a port: each server on this machine needs its own name.
        self.cookie = f"tacit-{port}"

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Refuse, exchange a token for a cookie, or pass on."""
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
        elif scope["type"] == "http":
            answer = self._refused(scope) or self._exchanged(scope) or self._stranger(scope)
            await (answer or self.app)(scope, _limited(scope, receive), _with_headers(send))
        else:
            await send({"type": "websocket.close", "code": 1008})

    def _refused(self, scope: Scope) -> Response | None:
        hosts = Headers(scope=scope).getlist("host")
        if len(hosts) == 1 and hosts[0].lower() in self.hosts:
            return None
        return _refusal(scope, 403, f"this server answers only to {ADDRESS}")

    def _exchanged(self, scope: Scope) -> Response | None:
        """An address with a token becomes a cookie and the same address without it, so that no history keeps it."""
        pairs = parse_qsl(scope["query_string"].decode("latin-1"), keep_blank_values=True)
        typed = [value for name, value in pairs if name == "token"]
        if not typed or scope["method"] != "GET":
            return None
        if not self._has_cookie(scope) and not self.keys.opens(typed[0]):
            return _refusal(
                scope, 401, "this address does not work (any more): use the one that the server printed last"
            )
        rest = urlencode([pair for pair in pairs if pair[0] != "token"])
        # The path is this server's, whatever it begins with.
        path = "/" + scope["raw_path"].decode("latin-1").partition("?")[0].lstrip("/\\")
        answer = RedirectResponse(path + (f"?{rest}" if rest else ""), status_code=303)
        answer.set_cookie(self.cookie, self.keys.cookie, httponly=True, samesite="strict", path="/")
        return answer

    def _stranger(self, scope: Scope) -> Response | None:
        headers = Headers(scope=scope)
        kind, _, token = headers.get("authorization", "").partition(" ")
        if kind.lower() == "token" and _same(self.keys.token, token.strip()):
            # No page can make a browser send this header to us, unless it knows the token.
            return None
        if not self._has_cookie(scope):
            return _refusal(scope, 401, "open the page with the address that the server printed when it started")
        if not self._own(scope["method"], headers):
            return _refusal(scope, 403, "another page asked for this, and was refused")
        return None

    def _has_cookie(self, scope: Scope) -> bool:
        cookies = cookie_parser(Headers(scope=scope).get("cookie", ""))
        return _same(self.keys.cookie, cookies.get(self.cookie, ""))

    def _own(self, method: str, headers: Headers) -> bool:
        """Whether a request with our cookie comes from our page or, if it only reads, was opened by the owner.

        SameSite keeps other sites away, but to a browser every port of this machine is the same site.
        """
        origin, site = headers.get("origin"), headers.get("sec-fetch-site")
        if origin is not None and origin not in {f"http://{host}" for host in self.hosts}:
            return False
        if method not in READING:
            return site == "same-origin" or (site is None and origin is not None)
        opened = headers.get("sec-fetch-mode") == "navigate" and headers.get("sec-fetch-dest") == "document"
        return site in (None, "same-origin", "none") or opened


def _refusal(scope: Scope, status: int, message: str) -> Response:
    if scope["path"].startswith("/api/"):
        return Answer({"message": message, "code": 2}, status)
    page = f"<!DOCTYPE html><html lang='en'><title>Tacit</title><h1>Tacit</h1><p>{escape(message.capitalize())}.</p>"
    return HTMLResponse(page, status)


def _limited(scope: Scope, receive: Receive) -> Receive:
    """The body of a request, refused as soon as it is larger than a request may be."""
    if scope["path"] == UPLOADS:
        return receive
    got = 0

    async def counted() -> Message:
        nonlocal got
        message = await receive()
        got += len(message.get("body", b""))
        if got > MOST_ASKED:
            raise HTTPException(413, f"a request has at most {MOST_ASKED >> 20} MB")
        return message

    return counted


def _with_headers(send: Send) -> Send:
    async def sending(message: MutableMapping[str, Any]) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            for name, value in HEADERS.items():
                headers.setdefault(name, value)
        await send(message)

    return sending
