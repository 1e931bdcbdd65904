"""The papers of a learned release: what they publish tells no secrets, and what was edited in them is found out."""

from __future__ import annotations

import hashlib
import json
import math
import random
import secrets
import shutil
from contextlib import suppress
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, strategies as st

from tables_of_people import patients, write_csv
from tacit import DataError, NotCertifiedError, ProtectResult, SourceError, protect, verify
from tacit.learn import load_model
from tacit.lenses.table.learned import release as learned_release
from tacit.lenses.table.learned.estimates import agrees, coarse, coarse_share, published_epsilon
from tacit.release.claims import NO_LEAK_DETECTED


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    found = tmp_path_factory.mktemp("papers")
    write_csv(found / "people.csv", patients())
    return found


@pytest.fixture(scope="module")
def protected(folder: Path) -> ProtectResult:
    with pytest.MonkeyPatch.context() as patch:
        # The same every time: by chance six digits of an estimate may stand in a page for another reason.
        patch.setattr(secrets, "randbits", random.Random(7).getrandbits)
        return protect(folder / "people.csv", secret="illness", epsilon=0.8, out=folder / "release", estimator="linear")


@pytest.fixture
def release(folder: Path, protected: ProtectResult, tmp_path: Path) -> Path:
    return Path(shutil.copytree(folder / "release", tmp_path / "release"))


def paper(release: Path) -> dict[str, Any]:
    return json.loads((release / "certificate.json").read_text())


def edit(release: Path, place: str, value: object) -> None:
    """Set the field at a dotted place, such as mechanism.weight; a number is a place in a list."""
    data = paper(release)
    *path, last = [int(key) if key.isdigit() else key for key in place.split(".")]
    within: Any = data
    for key in path:
        within = within[key]
    within[last] = value
    (release / "certificate.json").write_text(json.dumps(data))


def remove(release: Path, place: str) -> None:
    data = paper(release)
    *path, last = place.split(".")
    within: Any = data
    for key in path:
        within = within[key]
    del within[last]
    (release / "certificate.json").write_text(json.dumps(data))


def failed(release: Path, folder: Path) -> set[str]:
    return {check.name for check in verify(release, against=folder / "people.csv").checks if check.passed is False}


# What is published


def few_people(swapped: bool) -> pa.Table:
    """Sixty people; swapped, two of them have each other's secret."""
    rng = np.random.default_rng(3)
    a = np.round(rng.normal(size=60), 3)
    ill = np.where(rng.random(60) < 1 / (1 + np.exp(-2 * a)), "ill", "well")
    # Two unremarkable ones: of these the secret is the least expected to show.
    middle = np.argsort(abs(a))
    one, other = (next(i for i in middle if ill[i] == kind) for kind in ("ill", "well"))
    if swapped:
        ill[[one, other]] = ill[[other, one]]
    return pa.table({"a": a, "ill": ill})


def estimates_in(certificate: dict[str, Any]) -> list[float]:
    told = [certificate["estimated_epsilon"], certificate["estimated_exceeding"]]
    return told + [measure[when] for measure in certificate["measures"] for when in ("before", "after")]


def test_guesses_at_the_secrets_cannot_be_tried_out_on_the_published_numbers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The same secrets come out otherwise every time, by more than other secrets would change them."""
    source = random.Random(5)
    monkeypatch.setattr(secrets, "randbits", source.getrandbits)
    published: dict[bool, list[list[float]]] = {False: [], True: []}
    for swapped, runs in published.items():
        for _ in range(3):
            protect(
                few_people(swapped), secret="ill", epsilon=5, out=tmp_path / "r", estimator="linear", overwrite=True
            )
            runs.append(estimates_in(paper(tmp_path / "r")))
    for runs in published.values():
        assert len({tuple(run) for run in runs}) == 3
    for number in (0, 2):
        true, other = ([run[number] for run in published[swapped]] for swapped in (False, True))
        assert max(min(true), min(other)) <= min(max(true), max(other))


def test_without_a_random_state_the_seed_of_the_learning_is_secret(folder: Path, protected: ProtectResult) -> None:
    seed = load_model(folder / "release" / "private" / "model.tacit").random_state
    assert seed > 1000
    assert "Learned with a seed from the system's secure source" in protected.certificate.randomness
    for name in ("certificate.json", "report.html"):
        assert str(seed) not in (folder / "release" / name).read_text()


def test_a_given_random_state_is_warned_of(folder: Path, tmp_path: Path) -> None:
    made = protect(
        folder / "people.csv",
        secret="illness",
        epsilon=0.8,
        out=tmp_path / "r",
        estimator="linear",
        replacement="suppress",
        random_state=1,
    )
    assert "WARNING: what was learned can be learned again" in made.certificate.randomness
    assert verify(tmp_path / "r", against=folder / "people.csv").verdict == "holds"


def test_published_estimates_have_two_digits_and_the_owner_has_them_all(release: Path) -> None:
    certificate = paper(release)
    full = json.loads((release / "private" / "estimates.json").read_text())
    attained, epsilon = certificate["attained_epsilon"], certificate["epsilon"]
    for number in set(estimates_in(certificate)) - {attained, epsilon}:
        assert len(f"{number:.10f}".rstrip("0").lstrip("0.").replace(".", "")) <= 2, number
    assert certificate["estimated_epsilon"] == published_epsilon(full["kept_risk"], 0.8)
    assert certificate["estimated_epsilon"] >= full["kept_risk"]
    assert certificate["estimated_exceeding"] >= full["kept_exceeding"]
    assert len(str(full["information_before"])) > 8
    public = "".join((release / name).read_text() for name in ("certificate.json", "report.html"))
    for value in full.values():
        if isinstance(value, float) and len(str(value)) > 6 and value != full["records_risky"]:
            assert str(value)[:6] not in public.replace(str(attained), "")


def test_the_public_page_has_no_curve_and_no_histogram_of_estimates(release: Path, protected: ProtectResult) -> None:
    page = (release / "report.html").read_text()
    assert protected.curve
    assert protected.before.quantiles
    assert "How risky are the records" not in page
    assert 'type="range"' not in page
    assert "<svg" not in page
    assert "The owner has them in full" in page


@given(st.floats(0, 50), st.floats(0, 50))
def test_rounding_is_monotone_and_up_is_never_below(a: float, b: float) -> None:
    low, high = sorted((a, b))
    assert coarse(low) <= coarse(high)
    assert coarse(low, up=True) <= coarse(high, up=True)
    assert coarse(a, up=True) >= a - 1e-9
    assert agrees(coarse(a), a + 1e-7, coarse, within=1e-6)
    assert coarse_share(min(a, 1.0)) >= min(a, 1.0) - 1e-9


def test_roundings_of_special_numbers() -> None:
    assert coarse(-0.01) == 0
    assert coarse(math.inf, up=True) == math.inf
    assert [coarse(x) for x in (0.12345, 1.2345, 12.345, 0.0004, 0.0006)] == [0.12, 1.2, 12.0, 0.0, 0.001]
    assert published_epsilon(0.852, 0.855) == 0.855
    assert agrees(math.inf, math.inf, coarse, within=1e-6)
    assert not agrees(1.0, math.inf, coarse, within=1e-6)


# Where nothing was learned


def test_too_few_records_to_learn_from_are_not_released(tmp_path: Path) -> None:
    table = write_csv(tmp_path / "p.csv", patients(30))
    with pytest.raises(DataError, match=r"30 records are too few to learn from.*bins.*estimator=.counts"):
        protect(table, secret="illness", epsilon=0.5, out=tmp_path / "r", estimator="linear")
    assert not (tmp_path / "r").exists()


def test_that_no_leak_was_detected_is_no_proof_and_every_paper_says_so(tmp_path: Path) -> None:
    table = write_csv(tmp_path / "p.csv", patients(400, shuffled=True))
    made = protect(table, secret="illness", epsilon=0.8, out=tmp_path / "r", estimator="linear", random_state=0)
    assert made.certificate.mechanism.verdict == "no leak detected"
    assert NO_LEAK_DETECTED in made.headline
    assert NO_LEAK_DETECTED in made.certificate.claim
    assert NO_LEAK_DETECTED in (tmp_path / "r" / "report.html").read_text()
    edit(tmp_path / "r", "mechanism.verdict", "leak")
    assert {"claim in words", "published estimates"} <= {
        check.name for check in verify(tmp_path / "r").checks if check.passed is False
    }


def test_a_leak_that_was_not_found_in_any_record_is_not_released() -> None:
    learned = SimpleNamespace(evidence=SimpleNamespace(verdict="leak"), risk=np.full(3, 1e-4), name="linear")
    with pytest.raises(NotCertifiedError, match=r"did not learn which records.*nothing was written"):
        learned_release._refuse_unfound(learned, np.zeros(3, dtype=bool))  # type: ignore[arg-type]


def test_a_saved_model_that_was_not_tested_on_these_records_says_so(
    folder: Path, protected: ProtectResult, tmp_path: Path
) -> None:
    model = folder / "release" / "private" / "model.tacit"
    made = protect(folder / "people.csv", secret="illness", epsilon=0.8, out=tmp_path / "r", model=model)
    assert "Whether the saved model is right about these records was not tested." in made.certificate.claim
    table = write_csv(tmp_path / "next.csv", patients(300, random_state=7))
    made = protect(table, secret="illness", epsilon=0.8, out=tmp_path / "q", model=model, fresh=True)
    assert made.certificate.mechanism.verdict == "leak"
    assert verify(tmp_path / "q", against=table).verdict == "holds"


# What was edited


@pytest.mark.parametrize(
    ("place", "value", "line"),
    [
        ("measures.0.before", 0.0, "published estimates"),
        ("measures.0.after", 0.0, "published estimates"),
        ("measures.1.before", 0.1, "estimated risk before"),
        ("assumptions", ["All records are guaranteed."], "assumptions"),
        ("randomness", "Drawn by God.", "randomness"),
        ("mechanism.values_merged", 3, "what is kept and merged"),
        ("mechanism.values", 3, "what is kept and merged"),
        ("utility.rows_unchanged", 0.99, "what is kept and merged"),
        ("utility.cells_unchanged", 0.99, "what is kept and merged"),
        ("utility.mutual_information", 9.0, "what is kept and merged"),
        ("utility.entropy", 9.0, "what is kept and merged"),
        ("mechanism.learned_from", 5_000_000, "learned from"),
        ("mechanism.estimator", "an exact count", "estimator is one there is"),
        ("mechanism.records_risky", 0.9, "records judged risky"),
        ("output.report_sha256", "0" * 64, "report is the one certified"),
    ],
)
def test_an_edit_of_the_certificate_is_found_out(
    release: Path, folder: Path, place: str, value: object, line: str
) -> None:
    edit(release, place, value)
    assert line in failed(release, folder)


def test_an_edit_of_the_report_is_found_out(release: Path, folder: Path) -> None:
    page = release / "report.html"
    page.write_text(page.read_text().replace("which is no guarantee", "which is guaranteed"))
    assert failed(release, folder) == {"report is the one certified"}


def test_an_edit_of_the_estimates_in_full_is_found_out(release: Path, folder: Path) -> None:
    path = release / "private" / "estimates.json"
    path.write_text(path.read_text().replace('"kept_risk": 0.', '"kept_risk": 0.000'))
    assert "estimates in full are those certified" in failed(release, folder)
    path.write_text("{}")
    with pytest.raises(SourceError, match=r"estimates\.json is damaged"):
        verify(release)


def test_papers_without_a_report_or_its_fingerprint_are_not_broken_but_told(release: Path, folder: Path) -> None:
    edit(release, "output.report_sha256", None)
    result = verify(release, against=folder / "people.csv")
    assert result.verdict == "not checked"
    assert "report is the one certified" in result.headline
    (release / "report.html").unlink()
    result = verify(release, against=folder / "people.csv")
    assert result.verdict == "holds"
    assert any("there is no report.html" in note for note in result.notes)


def test_without_the_owners_files_it_is_said_what_was_not_checked(release: Path, folder: Path) -> None:
    shutil.rmtree(release / "private")
    notes = " ".join(verify(release, against=folder / "people.csv").notes)
    assert "the measures before and after are estimates and were not checked" in notes
    assert "rows and cells unchanged were not checked" in notes


def test_the_report_of_a_counted_release_is_certified_too(folder: Path, tmp_path: Path) -> None:
    made = protect(folder / "people.csv", secret="illness", released="ward", epsilon=0.8, out=tmp_path / "r")
    page = tmp_path / "r" / "report.html"
    assert made.certificate.output.report_sha256 == hashlib.sha256(page.read_bytes()).hexdigest()
    assert verify(tmp_path / "r", against=folder / "people.csv").verdict == "holds"
    edit(tmp_path / "r", "assumptions", [])
    edit(tmp_path / "r", "utility.rows_unchanged", 1.0)
    edit(tmp_path / "r", "mechanism.plain_watchdog_attains", 0.001)
    edit(tmp_path / "r", "measures", paper(tmp_path / "r")["measures"][1:])
    page.write_text("<p>Safe.")
    assert {
        "report is the one certified",
        "assumptions",
        "what is kept and merged",
        "measures before and after",
    } <= failed(tmp_path / "r", folder)


# What is missing


def places(data: Any, path: str = "") -> list[str]:
    if not isinstance(data, dict):
        return [path]
    inner = [place for key, value in data.items() for place in places(value, f"{path}.{key}" if path else key)]
    return ([path] if path else []) + inner


@pytest.mark.parametrize("value", ["nothing", None, "text", 1e308])
def test_a_certificate_without_a_field_or_with_nonsense_in_it_is_damaged_or_broken_and_never_a_crash(
    release: Path, folder: Path, value: object
) -> None:
    whole = (release / "certificate.json").read_text()
    # The rows are compared elsewhere; here each field is read once.
    for place in places(json.loads(whole)):
        if value == "nothing":
            remove(release, place)
        else:
            edit(release, place, value)
        # Anything but one line about a damaged certificate, or a verdict, would be a crash.
        with suppress(SourceError):
            assert verify(release).verdict in ("not checked", "broken"), place
        (release / "certificate.json").write_text(whole)


@pytest.mark.parametrize(
    "place", ["mechanism.records_merged", "estimated_epsilon", "mechanism.replacement", "utility.nmil", "input.records"]
)
def test_a_missing_field_is_called_damage(release: Path, folder: Path, place: str) -> None:
    remove(release, place)
    with pytest.raises(SourceError, match="damaged"):
        verify(release, against=folder / "people.csv")
