"""A worker answers one request with what the verb says, in the words of the command line, within the folder."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import tacit
from served_page import Page
from sizes import many
from tacit.cli.serving import WORKER
from tacit.cli.wording import COMMAND_LINE
from tacit.errors import DataError, TacitError
from tacit.web.files import Folder
from tacit.web.jobs.kept import KeptJob
from tacit.web.jobs.work import work
from tacit.web.uploads import zipped


@pytest.fixture
def answer(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Any]:
    """What a worker of the folder writes; in this process, for to start one takes longer than to answer."""
    monkeypatch.chdir(folder)

    def answered(verb: str, **request: Any) -> Any:
        job = KeptJob(folder / ".tacit" / f"job {len(list((folder / '.tacit').glob('*')))}")
        job.place.mkdir(parents=True)
        job.write("request.json", {"verb": verb, "request": request, "command": "", "asked": 0.0})
        assert work(job.place, COMMAND_LINE) == 0
        assert job.read("progress.json")["stage"] == "writing the answer"
        assert job.text("page.html").startswith("<!DOCTYPE html>") or verb == "ladder"
        return job.read("result.json")

    (folder / ".tacit").mkdir(exist_ok=True)
    return answered


def test_a_release_is_made_zipped_and_verified_by_whoever_receives_it(folder: Path, answer: Callable[..., Any]) -> None:
    made = answer("protect", source="people.csv", secret="race", epsilon=0.5, out="release")
    assert made["result"] == "ProtectResult"
    assert (folder / "release/certificate.json").exists()
    zipped(Folder.at(folder), folder / "release").rename(folder / "received.zip")
    found = answer("verify", release="received.zip", against="people.csv")
    assert (found["result"], found["verdict"]) == ("VerifyResult", "holds")
    assert not list(folder.rglob("unpacked"))
    (folder / "tacit.toml").write_text('secret = "race"\nepsilon = 0.5\n')
    assert answer("check", source="release")["result"] == "CheckResult"


def test_the_columns_of_a_table(answer: Callable[..., Any]) -> None:
    columns = answer("columns", source="people.csv")
    assert [each["name"] for each in columns["columns"]] == ["age", "race"]


def test_the_ladder_of_a_table(answer: Callable[..., Any]) -> None:
    rungs = answer("ladder", source="people.csv", secret="race", least=5, epsilon_high=1)["rungs"]
    assert rungs[0]["epsilon"] < rungs[-1]["epsilon"]
    assert len(rungs[0]["rows"]) == 10


def test_the_answers_about_a_person_are_those_of_its_commands(folder: Path, answer: Callable[..., Any]) -> None:
    tacit.person_init(folder / "mine")
    found = answer("person/dip", case="mine/case.yaml", query=[{"phone": "555"}], adversary=["joins"])
    assert found["result"] == "PersonDipResult"
    assert "555" not in json.dumps(found["dips"])


def test_a_post_is_read_word_by_word(folder: Path, answer: Callable[..., Any]) -> None:
    rows = [("vote red cars", "r"), ("vote blue boats", "b"), ("red roses", "r"), ("blue skies", "b")] * 15
    posts = "".join(f"{text} {n},{party}\n" for n, (text, party) in enumerate(rows))
    (folder / "posts.csv").write_text(f"text,party\n{posts}")
    tacit.audit("posts.csv", text="text", secret="party", save_model="words.tacit")
    found = answer("explain-text", model="words.tacit", text="<b>red</b> cars", epsilon=0.1)
    assert found["posts"][0]["secret"] == "r"
    assert "".join(piece["text"] for piece in found["posts"][0]["pieces"]) == "<b>red</b> cars"


@pytest.mark.parametrize("path", ["/etc/hostname", "../outside.csv", "link.csv"])
def test_a_case_cannot_lead_out_of_the_folder(folder: Path, answer: Callable[..., Any], path: str) -> None:
    (folder.parent / "outside.csv").write_text("name,phone\nAlice,555\n")
    (folder / "link.csv").symlink_to(folder.parent / "outside.csv")
    (folder / "case.yaml").write_text(f"person: {{name: Alice}}\nsources: [{{name: shop, path: '{path}'}}]\n")
    with pytest.raises(DataError, match="outside the folder") as refusal:
        answer("person/audit", case="case.yaml")
    assert "555" not in str(refusal.value)
    assert "phone" not in str(refusal.value)


def test_a_table_or_levels_cannot_either(folder: Path, answer: Callable[..., Any]) -> None:
    (folder.parent / "outside.csv").write_text("age,race\n1,A\n")
    with pytest.raises(TacitError, match="outside the folder"):
        answer("audit", source="../outside.csv", secret="race")
    with pytest.raises(TacitError, match="outside the folder"):
        answer("protect", source="people.csv", secret="race", epsilon=1, levels={"age": "../outside.csv"}, out="r")


def test_a_broken_file_is_told_as_the_command_line_tells_it_and_a_run_leaves_nothing_when_it_is_stopped(
    folder: Path, start: Callable[..., Page], tacit_command: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = start(folder, worker=WORKER)
    (folder / "broken.csv").write_bytes(b"age,race\n1,\xc3\xa9\xff\n")
    rows = "".join(f"{i % 97},{i % 89},{i % 83},{'AB'[i % 3 == 0]}\n" for i in range(many(5_000, 200_000)))
    (folder / "long.csv").write_text(f"a,b,c,race\n{rows}")
    before = sorted(path for path in folder.rglob("*") if ".tacit" not in path.parts)
    broken = page.ask(source="broken.csv", secret="race")
    running = page.ask("protect", source="long.csv", secret="race", epsilon=0.1, out="release")
    page.at_work(running)
    page.script.delete(f"/api/jobs/{running}")
    assert page.until(running)["state"] == "cancelled"
    assert sorted(path for path in folder.rglob("*") if ".tacit" not in path.parts) == before
    monkeypatch.chdir(folder)
    monkeypatch.setattr("tacit.tables.writing._appeared", [])
    code, _, said = tacit_command("audit", "broken.csv", "--secret", "race")
    error = page.until(broken, seconds=60)["error"]
    assert error == {"message": said.strip().removeprefix("tacit: "), "code": code}
