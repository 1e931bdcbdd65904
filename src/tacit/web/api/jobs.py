"""Jobs: ask a verb, see how far it has got, stop it, and read the answer."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Annotated, Any

from fastapi import APIRouter, Query
from starlette.responses import HTMLResponse, StreamingResponse

from tacit.errors import Wording
from tacit.report.json import plain
from tacit.report.page import policy
from tacit.web.answering import Answer
from tacit.web.api.wiring import REFUSALS, Body, JobList, JobSeen, body_of
from tacit.web.asking import WRITTEN, Askable, paths_in, refuse_taken, verbs
from tacit.web.files import Folder, MissingError
from tacit.web.jobs.desk import Desk
from tacit.web.jobs.kept import PAGE
from tacit.web.security import FRAMED

# Seconds between two looks at a job that is watched, and the longest silence before a browser hears something.
_OFTEN, _SILENCE = 0.25, 10.0


def asking(folder: Folder, desk: Desk, wording: Wording) -> APIRouter:
    """A route for every verb, and one for the schema of each."""
    router = APIRouter(tags=["verbs"], responses=REFUSALS)
    for verb in verbs().values():
        _ask(router, verb, folder, desk, wording)

    @router.get("/api/schema/{verb:path}")
    def schema(verb: str) -> dict[str, Any]:
        """The fields of a verb as a JSON schema, with their help, for a form."""
        if verb not in verbs():
            raise MissingError(f"there is no verb of that name; there are {', '.join(verbs())}")
        return verbs()[verb].schema()

    return router


def _ask(router: APIRouter, verb: Askable, folder: Folder, desk: Desk, wording: Wording) -> None:
    model = body_of(verb.name)

    def ask(body: Body) -> Answer:
        request = body.said()
        for name, path in paths_in(request):
            place = folder.place(path.as_posix())
            if name in WRITTEN:
                refuse_taken(name, place)
        name = desk.ask(verb.name, plain(body.sent), verb.command(request, wording))
        return Answer(desk.seen(name), 202)

    ask.__annotations__["body"] = model
    ask.__doc__ = verb.about
    router.post(
        f"/api/{verb.name}",
        name=verb.name,
        operation_id=verb.name.replace("/", "-"),
        response_model=JobSeen,
        status_code=202,
    )(ask)


def jobs(desk: Desk) -> APIRouter:
    """The routes about jobs."""
    router = APIRouter(tags=["jobs"], responses=REFUSALS)

    @router.get("/api/jobs", response_model=JobList)
    def list_jobs() -> Answer:
        """Every job, the newest first."""
        return Answer(desk.all())

    @router.get("/api/jobs/{job}", response_model=JobSeen)
    def see_job(job: str) -> Answer:
        """How far a job has got, and its answer when it is done."""
        return Answer(desk.seen(job))

    @router.delete("/api/jobs/{job}", response_model=JobSeen)
    def cancel_job(job: str, forget: Annotated[bool, Query()] = False) -> Answer:
        """Stop a job or, with ``forget``, remove one that has ended, with its answer."""
        facts = desk.seen(job)
        if forget:
            desk.forget(job)
            return Answer(facts)
        desk.cancel(job)
        return Answer(desk.seen(job))

    @router.get("/api/jobs/{job}/page", response_class=HTMLResponse)
    def job_page(job: str) -> HTMLResponse:
        """The answer as a page of its own, which runs in a frame that can reach nothing."""
        kept = desk.job(job)
        if not kept.has(PAGE):
            raise MissingError("the job has no page (yet)")
        return HTMLResponse(kept.text(PAGE), headers={"content-security-policy": f"{policy()}; {FRAMED}"})

    @router.get("/api/jobs/{job}/events", response_class=StreamingResponse)
    def job_events(job: str) -> StreamingResponse:
        """The same JSON as an event whenever it changes, until the job has ended."""
        desk.job(job)
        return StreamingResponse(_events(desk, job), media_type="text/event-stream")

    return router


async def _events(desk: Desk, job: str) -> AsyncIterator[str]:
    last, silent = "", 0.0
    while not desk.closing:
        try:
            facts = desk.seen(job)
        except MissingError:
            return
        # Passing time alone is no news; the browser can count seconds itself.
        news = json.dumps(plain({**facts, "seconds": None, "left": None}))
        if news != last or silent >= _SILENCE:
            last, silent = news, 0.0
            yield f"data: {json.dumps(plain(facts), allow_nan=False)}\n\n"
        if facts["state"] not in ("waiting", "running"):
            return
        await asyncio.sleep(_OFTEN)
        silent += _OFTEN
