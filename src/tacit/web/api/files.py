"""Files: what there is, in and out."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Request
from starlette.background import BackgroundTask
from starlette.responses import FileResponse

from tacit.errors import ArgumentError
from tacit.web.answering import Answer
from tacit.web.api.wiring import REFUSALS, FileList, Named, place_of
from tacit.web.files import Folder
from tacit.web.uploads import MOST_UPLOADED, received, too_large, zipped

_FORM: dict[str, Any] = {
    "requestBody": {
        "required": True,
        "content": {
            "multipart/form-data": {
                "schema": {
                    "type": "object",
                    "properties": {"file": {"type": "string", "contentMediaType": "application/octet-stream"}},
                    "required": ["file"],
                }
            }
        },
    }
}


def files(folder: Folder) -> APIRouter:
    """The routes about files."""
    router = APIRouter(tags=["files"], responses=REFUSALS)

    @router.get("/api/files", response_model=FileList)
    def list_files() -> Answer:
        """What is in the folder, the newest first."""
        return Answer(folder.listed())

    @router.post("/api/files", response_model=Named, openapi_extra=_FORM)
    async def send_file(request: Request) -> Answer:
        """Put a file into the folder. Nothing is replaced: a name that is taken gets a number."""
        length = request.headers.get("content-length", "")
        if length.isdigit() and int(length) > MOST_UPLOADED + 4096:
            raise too_large()
        return Answer({"name": await received(folder, request.headers.get("content-type", ""), request.stream())})

    @router.get("/api/files/{name:path}", response_class=FileResponse)
    def take_file(name: str) -> FileResponse:
        """A file unchanged; a release as a zip, without what is for its owner only."""
        path = folder.there(place_of(name))
        if path.is_file():
            return FileResponse(path, filename=path.name, media_type="application/octet-stream")
        if not (path / "certificate.json").is_file():
            raise ArgumentError(f"'{name}' is a folder: name a file in it")
        archive = zipped(folder, path)
        done = BackgroundTask(archive.unlink, missing_ok=True)
        return FileResponse(archive, filename=f"{path.name}.zip", media_type="application/zip", background=done)

    return router
