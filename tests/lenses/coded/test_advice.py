"""What audits of images, posts and vectors propose: a command that runs as it stands, and proves its ceiling."""

from __future__ import annotations

import shlex
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from lenses.coded.test_coded_releases import faces, posts

Run = Callable[..., tuple[int, str, str]]


def written(medium: str) -> list[str]:
    """The words that audit a source in the working directory."""
    if medium == "images":
        return [faces(Path("faces.npz"), n=900).name, "--secret", "smile", "--patch", "4"]
    if medium == "posts":
        return [posts(Path("posts.csv"), n=1500).name, "--text", "text", "--secret", "party"]
    rng = np.random.default_rng(0)
    secret = rng.integers(0, 2, 1200)
    np.save("v.npy", rng.normal(size=(1200, 4)) + 2 * secret[:, None] * np.eye(4)[0])
    Path("labels.csv").write_text("smile\n" + "".join(f"{'ny'[each]}\n" for each in secret))
    return ["v.npy", "--vector", "emb", "--labels", "labels.csv", "--secret", "smile"]


@pytest.mark.parametrize("medium", ["images", "posts", "vectors"])
def test_the_release_that_an_audit_proposes_is_made_by_the_command_it_prints(
    medium: str, tacit_command: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    status, shown, _ = tacit_command("audit", *written(medium))
    assert (status, "LEAK" in shown) == (0, True)
    (line,) = [line for line in shown.splitlines() if line.startswith("tacit protect")]
    program, *words = shlex.split(line)
    assert program == "tacit"
    status, shown, error = tacit_command(*words, "--random-state", "0")
    assert (status, "PROVED" in shown) == (0, True), error
