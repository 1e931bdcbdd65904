"""The pages: a template named by the address. The browser fills in values, as text."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from fastapi import APIRouter
from jinja2 import Environment, FileSystemLoader, StrictUndefined
from starlette.responses import HTMLResponse, Response

from tacit import __version__
from tacit.report.page import source_of
from tacit.web.files import Folder, MissingError

PLACE = Path(__file__).parent


@cache
def _environment() -> Environment:
    loader = FileSystemLoader(PLACE / "pages")
    return Environment(loader=loader, autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)


def pages(folder: Folder) -> APIRouter:
    """A route for every template: ``index.html`` at the root, ``table.html`` at ``/table`` and below it.

    A template gets the name of the page, what follows it in the address (``subject``), the folder's name and the
    version. One whose name begins with an underscore is a part of others.
    """
    router = APIRouter(include_in_schema=False)

    @router.get("/", response_class=HTMLResponse)
    def first() -> HTMLResponse:
        """The first page."""
        return _shown("index", "", folder)

    @router.get("/report.css", response_class=Response)
    def report_style() -> Response:
        """The style of reports: a page and a report look like one product."""
        return Response(source_of("style.css"), media_type="text/css")

    @router.get("/{page}", response_class=HTMLResponse)
    def whole(page: str) -> HTMLResponse:
        """A page."""
        return _shown(page, "", folder)

    @router.get("/{page}/{subject:path}", response_class=HTMLResponse)
    def about(page: str, subject: str) -> HTMLResponse:
        """A page about something."""
        return _shown(page, subject, folder)

    return router


def _shown(page: str, subject: str, folder: Folder) -> HTMLResponse:
    name = f"{page}.html"
    if page.startswith("_") or name not in _environment().list_templates():
        raise MissingError("there is no such page")
    words = {"page": page, "subject": subject, "folder": folder.root.name, "version": __version__}
    return HTMLResponse(_environment().get_template(name).render(**words))
