"""A job is one request answered by a process of its own, whoever watches and whatever becomes of the server."""

from __future__ import annotations

import json
import os
import signal
import stat
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from served_page import Page
from tacit.web.jobs import desk as desks
from tacit.web.jobs.kept import KeptJob


def test_a_job_is_answered_with_its_command_and_kept_for_its_owner_alone(page: Page) -> None:
    job = page.ask(source="people.csv", secret="race", drop=["my id"], epsilon=0.5)
    seen = page.until(job)
    assert (seen["state"], seen["result"], seen["error"]) == ("done", {"found": 1}, None)
    assert seen["command"] == "tacit audit people.csv --secret race --drop 'my id' --epsilon 0.5"
    assert seen["request"] == {"source": "people.csv", "secret": "race", "drop": ["my id"], "epsilon": 0.5}
    assert stat.S_IMODE((page.folder / ".tacit").stat().st_mode) == 0o700
    assert "result" not in page.script.get("/api/jobs").json()[0]


def test_how_far_a_step_is_promises_nothing_of_the_steps_to_come(page: Page) -> None:
    job = page.ask(source="slow.csv", secret="race")
    seen = page.at_work(job)
    assert seen["share"] == 0.25
    assert seen["left"] is None
    page.script.delete(f"/api/jobs/{job}")


def test_the_same_once_more_takes_about_as_long(page: Page) -> None:
    first = page.ask(source="slow.csv", secret="race")
    page.at_work(first)
    (page.folder / "go").touch()
    took = page.until(first)["seconds"]
    (page.folder / "go").unlink()
    again = page.ask(source="slow.csv", secret="race")
    assert 0 <= page.at_work(again)["left"] <= took
    page.script.delete(f"/api/jobs/{again}")


def test_a_few_work_at_a_time_and_the_others_wait_their_turn(folder: Path, start: Callable[..., Page]) -> None:
    page = start(folder, at_once=1)
    first, second, third = (page.ask(source=f"slow{n}.csv", secret="race") for n in range(3))
    page.until(first, "running")
    assert page.seen(second)["state"] == page.seen(third)["state"] == "waiting"
    page.script.delete(f"/api/jobs/{second}")
    assert page.seen(second)["state"] == "cancelled"
    (folder / "go").touch()
    assert page.until(first)["state"] == page.until(third)["state"] == "done"
    assert page.seen(second)["state"] == "cancelled"


def test_a_job_is_cancelled_in_the_middle(page: Page) -> None:
    job = page.ask(source="slow.csv", secret="race")
    page.until(job, "running")
    page.script.delete(f"/api/jobs/{job}")
    assert page.until(job)["state"] == "cancelled"
    # Once more changes nothing.
    page.script.delete(f"/api/jobs/{job}")
    assert page.seen(job)["state"] == "cancelled"


def test_a_worker_that_does_not_listen_is_ended(page: Page, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(desks, "GRACE", 0.2)
    job = page.ask(source="deaf slow.csv", secret="race")
    page.at_work(job)
    page.script.delete(f"/api/jobs/{job}")
    assert page.until(job)["state"] == "cancelled"


def test_a_worker_that_is_killed_is_told_as_such(page: Page) -> None:
    job = page.ask(source="slow.csv", secret="race")
    page.at_work(job)
    page.desk.job(job).signal(signal.SIGKILL)
    seen = page.until(job)
    assert seen["state"] == "failed"
    assert seen["error"]["code"] == 3
    assert "SIGKILL" in seen["error"]["message"]


def test_what_a_worker_refuses_is_the_error_with_its_code(page: Page) -> None:
    seen = page.until(page.ask(source="bad.csv", secret="race"))
    assert (seen["state"], seen["error"]) == ("failed", {"message": "bad is no table", "code": 3})


def test_a_worker_that_cannot_start_is_a_defect_and_not_a_wait(folder: Path, start: Callable[..., Page]) -> None:
    page = start(folder, worker=("false",))
    seen = page.until(page.ask(source="people.csv", secret="race"))
    assert (seen["state"], seen["error"]["code"]) == ("failed", 4)


def test_two_tabs_see_the_same_jobs_and_each_may_stop_them(page: Page) -> None:
    one, two = page.browser(), page.browser()
    job = one.post("/api/audit", json={"source": "slow.csv", "secret": "race"}).json()["id"]
    assert [each["id"] for each in two.get("/api/jobs").json()] == [job]
    one.close()
    assert two.get(f"/api/jobs/{job}").json()["state"] == "running"
    two.delete(f"/api/jobs/{job}")
    assert page.until(job)["state"] == "cancelled"


def test_a_worker_that_outlives_its_server_is_seen_by_the_next(folder: Path, start: Callable[..., Page]) -> None:
    first = start(folder)
    job = first.ask(source="slow.csv", secret="race")
    first.at_work(job)
    second = start(folder)
    assert second.seen(job)["state"] == "running"
    (folder / "go").touch()
    assert second.until(job)["result"] == {"found": 1}


def test_a_worker_of_an_earlier_server_can_be_stopped(folder: Path, start: Callable[..., Page]) -> None:
    first = start(folder)
    job = first.ask(source="slow.csv", secret="race")
    first.at_work(job)
    second = start(folder)
    second.script.delete(f"/api/jobs/{job}")
    assert second.until(job)["state"] == "cancelled"


def test_what_neither_ended_nor_runs_is_told_as_interrupted_after_a_restart(
    folder: Path, start: Callable[..., Page]
) -> None:
    first = start(folder, at_once=1)
    running, waiting = first.ask(source="slow.csv", secret="race"), first.ask(source="people.csv", secret="race")
    first.until(running, "running")
    first.desk.close()
    second = start(folder)
    for job in (running, waiting):
        assert second.seen(job)["state"] == "interrupted"
    # It is asked again with what it was asked.
    again = second.script.post("/api/audit", json=second.seen(waiting)["request"]).json()["id"]
    assert second.until(again)["state"] == "done"


def test_a_number_that_another_process_has_by_now_is_not_taken_for_the_worker(
    folder: Path, start: Callable[..., Page]
) -> None:
    job = KeptJob(folder / ".tacit/jobs/20260101-000000-00000000")
    job.place.mkdir(parents=True)
    job.write("request.json", {"verb": "audit", "request": {}, "command": "", "asked": 0.0})
    job.write("started.json", {"pid": os.getpid(), "at": 0.0})
    page = start(folder)
    page.script.delete(f"/api/jobs/{job.name}")
    assert page.seen(job.name)["state"] == "interrupted"


# What a folder from elsewhere may hold in the place of a job.
STRANGE = [
    *(("request.json", text) for text in ("", "[]", "{}", '{"verb": 5}', "[" * 100_000)),
    *(("ended.json", text) for text in ("", "{}", '{"state": "done"}', "null")),
    *(("started.json", text) for text in ("5", '{"pid": "1", "at": 0.0}')),
    ("progress.json", '{"stage": [], "share": 1, "since": 1, "at": 1}'),
]


def test_what_looks_like_a_job_in_a_folder_from_elsewhere_harms_nothing(
    folder: Path, start: Callable[..., Page]
) -> None:
    names = [f"20260101-000000-{number:08d}" for number in range(len(STRANGE))]
    for place, (name, text) in zip(names, STRANGE, strict=True):
        job = KeptJob(folder / ".tacit/jobs" / place)
        job.place.mkdir(parents=True)
        job.write("request.json", {"verb": "audit", "request": {}, "command": "", "asked": 0.0})
        job.write_text(name, text)
    page = start(folder)
    assert page.script.get("/api/jobs").json() == []
    for place, strange in zip(names, STRANGE, strict=True):
        assert page.script.get(f"/api/jobs/{place}").status_code in (404, 422), strange
    assert page.until(page.ask(source="people.csv", secret="race"))["state"] == "done"


def test_a_job_that_has_ended_is_forgotten_with_its_answer(page: Page) -> None:
    job = page.ask(source="slow.csv", secret="race")
    assert page.script.delete(f"/api/jobs/{job}?forget=true").status_code == 400
    page.script.delete(f"/api/jobs/{job}")
    page.until(job)
    assert page.script.delete(f"/api/jobs/{job}?forget=true").status_code == 200
    assert page.script.get(f"/api/jobs/{job}").status_code == 404
    assert not (page.folder / ".tacit/jobs" / job).exists()


def test_there_is_no_job_but_those_that_were_asked(page: Page) -> None:
    for name in ("x", "..", "20260101-000000-zzzzzzzz", "%2e%2e%2f%2e%2e", "20260101-000000-00000000"):
        for address in (f"/api/jobs/{name}", f"/api/jobs/{name}/page", f"/api/jobs/{name}/events"):
            assert page.script.get(address).status_code in (404, 405)


def test_the_page_of_an_answer_runs_in_a_frame_that_reaches_nothing(page: Page) -> None:
    job = page.ask(source="people.csv", secret="race")
    page.until(job)
    policy = page.script.get(f"/api/jobs/{job}/page").headers["content-security-policy"]
    assert "sandbox allow-scripts" in policy
    assert "default-src 'none'" in policy
    assert "allow-same-origin" not in policy
    assert "script-src 'sha256-" in policy


def test_events_tell_every_change_until_the_end(page: Page) -> None:
    job = page.ask(source="people.csv", secret="race")
    with page.script.stream("GET", f"/api/jobs/{job}/events") as answer:
        lines = [line for line in answer.iter_lines() if line.startswith("data: ")]
    told: list[dict[str, Any]] = [json.loads(line.removeprefix("data: ")) for line in lines]
    assert told[-1]["state"] == "done"
    assert told[-1]["result"] == {"found": 1}
    assert all(each["state"] == "running" for each in told[:-1])


def test_a_worker_that_waits_takes_the_next_job_and_leaves_with_the_server(
    folder: Path, start: Callable[..., Page]
) -> None:
    page = start(folder, spare=True)
    waiting = page.desk._spare
    assert waiting is not None
    job = page.ask(source="people.csv", secret="race")
    assert page.until(job)["state"] == "done"
    assert waiting.wait() == 0
    page.desk.close()
    assert page.desk._spare is None or page.desk._spare.poll() is not None
