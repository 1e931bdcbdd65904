"""The application: the guard, the routes, the pages."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

from fastapi import FastAPI
from starlette.staticfiles import StaticFiles

from tacit import __version__
from tacit.errors import Wording
from tacit.web.answering import refuses
from tacit.web.api.files import files
from tacit.web.api.jobs import asking, jobs
from tacit.web.files import Folder
from tacit.web.jobs.desk import AT_ONCE, Desk
from tacit.web.security import Guard, Keys
from tacit.web.showing import PLACE, pages

# FastAPI can send requests, and who made them, wherever the environment says: all off, nothing leaves the machine.
_NOTHING_TOLD = ("tracing", "metrics", "logs", "operation_spans", "auto_configure")


def application(
    folder: str | os.PathLike[str],
    keys: Keys,
    *,
    port: int,
    wording: Wording,
    worker: Sequence[str],
    at_once: int = AT_ONCE,
    spare: bool = False,
) -> Guard:
    """The application that serves a folder on a port of this machine.

    ``worker`` is the command line of a process that answers the job whose folder it reads from standard input;
    ``wording`` says how settings and commands are spelled. At most ``at_once`` workers run; with ``spare`` one more
    waits, so that an answer need not wait for it to load. Running jobs are stopped when the application ends.

    Guarantees
    ----------
    See :class:`tacit.web.security.Guard` for who is answered, and :class:`tacit.web.files.Folder` for what is reached.
    Only answers to requests are sent.
    """
    served = Folder.at(folder)
    desk = Desk(served.hidden / "jobs", served.root, worker, at_once=at_once, spare=spare)

    @asynccontextmanager
    async def living(_: FastAPI) -> AsyncIterator[None]:
        yield
        desk.close()

    app = FastAPI(
        title="Tacit",
        version=__version__,
        summary="What does a dataset give away without saying it?",
        openapi_url="/api/openapi.json",
        docs_url=None,
        redoc_url=None,
        lifespan=living,
        telemetry=dict.fromkeys(_NOTHING_TOLD, False),  # type: ignore[arg-type]
    )
    app.state.desk = desk
    refuses(app, wording)
    app.include_router(files(served))
    app.include_router(jobs(desk))
    app.include_router(asking(served, desk, wording))
    app.mount("/static", StaticFiles(directory=PLACE / "static"))
    app.include_router(pages(served))
    return Guard(app, keys=keys, port=port)
