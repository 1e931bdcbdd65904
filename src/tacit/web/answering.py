"""Answers and refusals as strict JSON, in the words of the command line."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse

from tacit.errors import ArgumentError, TacitError, Wording
from tacit.report.json import plain
from tacit.web.files import MissingError, TooLargeError

if TYPE_CHECKING:
    from fastapi import FastAPI
    from starlette.requests import Request

DEFECT = "a bug in Tacit ({name}): it is in the log of the server; nothing was written"


class Answer(JSONResponse):
    """Strict JSON, always: infinity is ``"inf"``, and half a character is escaped."""

    def __init__(self, content: Any, status: int = 200, headers: dict[str, str] | None = None) -> None:
        super().__init__(content, status, headers)

    def render(self, content: Any) -> bytes:
        """The bytes."""
        return json.dumps(plain(content), allow_nan=False, separators=(",", ":")).encode()


_STATUS: dict[type[TacitError], int] = {MissingError: 404, TooLargeError: 413, ArgumentError: 400}


def refuses(app: FastAPI, wording: Wording) -> None:
    """Make the application answer refusals as ``{"message": …, "code": …}``, in this wording."""

    def refused(_: Request, error: Exception) -> Answer:
        assert isinstance(error, TacitError)
        status = next((status for kind, status in _STATUS.items() if isinstance(error, kind)), 422)
        return Answer({"message": error.told(wording), "code": error.exit_code}, status)

    def invalid(request: Request, error: Exception) -> Answer:
        assert isinstance(error, RequestValidationError)
        for each in error.errors():
            cause = each.get("ctx", {}).get("error")
            if isinstance(cause, TacitError):
                return refused(request, cause)
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"][1:]) or "the request"
        return Answer({"message": f"{where}: {first['msg'].lower()}", "code": 2}, 422)

    def plainly(_: Request, error: Exception) -> Answer:
        assert isinstance(error, HTTPException)
        return Answer({"message": str(error.detail).lower(), "code": 2}, error.status_code, dict(error.headers or {}))

    def defect(_: Request, error: Exception) -> Answer:
        return Answer({"message": DEFECT.format(name=type(error).__name__), "code": 4}, 500)

    app.add_exception_handler(TacitError, refused)
    app.add_exception_handler(RequestValidationError, invalid)
    app.add_exception_handler(HTTPException, plainly)
    app.add_exception_handler(Exception, defect)
