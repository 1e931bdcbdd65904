"""Progress on standard error: a plain line now and then, and a time left only where a step says its share."""

import time

from tacit.cli import showing
from tacit.document import step_words


def test_time_left_is_of_the_step_and_only_where_it_says_its_share():
    assert step_words("counting", None, 60.0) == "counting"
    assert step_words("shuffling", 0.25, 1.0) == "shuffling: 25% of this step"
    assert step_words("shuffling", 0.25, 10.0) == "shuffling: 25% of this step, about 30 s left of it"
    assert step_words("shuffling", 0.0, 10.0) == "shuffling: 0% of this step"
    assert step_words("shuffling", 0.1, 600.0).endswith("about 90 min left of it")


def test_off_a_terminal_a_long_run_writes_plain_lines_and_a_short_or_quiet_one_none(capsys, monkeypatch):
    with showing.watched(quiet=False) as progress:
        progress("counting", None)
    assert capsys.readouterr().err == ""
    monkeypatch.setattr(showing, "EVERY", 0.01)
    with showing.watched(quiet=False) as progress:
        progress("counting", None)
        time.sleep(0.1)
    written = capsys.readouterr().err.splitlines()
    assert set(written) == {"tacit: 0 s, counting"}
    with showing.watched(quiet=True) as progress:
        progress("counting", None)
        time.sleep(0.05)
    assert capsys.readouterr().err == ""
