"""Text: tokens, which words are real, masking, what is said of a masked release, and the commands."""

from __future__ import annotations

import csv
import json
import re
import shutil
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from scipy.stats import hypergeom

import tacit
from papers import forge
from sizes import few, many
from tacit import audit, protect, report, verify
from tacit.errors import ArgumentError, ColumnError, DataError, EngineError, SourceError
from tacit.learn import TermLogLift, beginnings
from tacit.lenses.text import TextModel, explain_text
from tacit.lenses.text.masking import Masking
from tacit.lenses.text.posts import bags_by, bags_of, read_posts
from tacit.lenses.text.terms import TermCounts, chances, verdicts
from tacit.lenses.text.words import terms, tokens
from tacit.loading import file_sha256
from tacit.release import Check, read_certificate

Run = Callable[..., tuple[int, str, str]]

COMMON = [f"word{k}" for k in range(30)]


def corpus(n: int = 600, *, leak: float = 0.7, seed: int = 0) -> dict[str, list[str]]:
    """Posts of two sides: "#tax" and "@left" are said by one side alone, with probability ``leak``."""
    rng = np.random.default_rng(seed)
    texts, party = [], []
    for k in range(n):
        side = int(rng.integers(2))
        said = list(rng.choice(COMMON, size=8))
        if rng.random() < leak:
            said.insert(int(rng.integers(8)), ("@left", "#tax")[side])
        texts.append(f"Post {k}: " + " ".join(said) + "!")
        party.append("LR"[side])
    return {"party": party, "place": [f"town{k % 3}" for k in range(n)], "text": texts}


def write(path: Path, columns: dict[str, list[str]]) -> Path:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(columns)
        writer.writerows(zip(*columns.values(), strict=True))
    return path


@pytest.fixture(scope="module")
def posts() -> dict[str, list[str]]:
    return corpus()


@pytest.fixture(scope="module")
def audited(posts: dict[str, list[str]]) -> tacit.lenses.text.TextAuditResult:
    return audit(pd.DataFrame(posts), text="text", secret="party")


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, tacit_command: Run, tmp_path: Path) -> Run:
    monkeypatch.chdir(tmp_path)
    return tacit_command


# ---- tokens and bags --------------------------------------------------------------------------------------------


def test_words_tags_mentions_and_addresses_are_terms() -> None:
    said = terms("Vote NO on #TaxBill, @Smith: https://t.co/x?y=1 www.a.org don’t &amp; 🙂 <url>")
    assert said == ["vote", "no", "on", "#taxbill", "@smith", "<url>", "<url>", "don't", "🙂", "<url>"]


@pytest.mark.parametrize(
    ("one", "other"),
    [("Ｔax", "tax"), ("de\u200bmocrat", "DEMOCRAT"), ("Cafe\u0301", "CAFÉ"), ("straße", "STRASSE"), ("𝐃em", "dem")],
)
def test_a_word_in_disguise_is_the_same_term(one: str, other: str) -> None:
    assert terms(one) == terms(other)
    assert len(terms(one)) == 1


def test_vowel_signs_do_not_split_a_word() -> None:
    assert terms("हिन्दी में") == ["हिन्दी", "में"]


def test_tokens_know_their_place() -> None:
    post = "Hi, #You and @me"
    assert [post[t.start : t.end] for t in tokens(post)] == ["Hi", "#You", "and", "@me"]


def test_bags_keep_the_order_of_reading_and_leave_rare_terms_out() -> None:
    bags = bags_of(["b a b c", "a b", ""], min_count=2)
    assert bags.vocabulary.terms == ("a", "b")
    assert bags.rare == 1
    assert bags.vocabulary.posts.tolist() == [2, 2]
    assert bags.presence.indices.tolist() == [1, 0, 0, 1]
    assert bags.presence.indptr.tolist() == [0, 2, 4, 4]
    assert (bags_by(["a z b"], bags.vocabulary).indices == [0, 1]).all()


# ---- the model ---------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def learned() -> tuple[TermLogLift, sparse.csr_array]:
    rng = np.random.default_rng(1)
    codes = rng.integers(3, size=900)
    texts = [" ".join([*rng.choice(COMMON, 5), f"sign{code}" if rng.random() < 0.6 else "none"]) for code in codes]
    bags = bags_of(texts)
    return TermLogLift().fit(bags.presence, codes), bags.presence


def test_conditional_densities_add_up_to_the_log_lift_of_the_post(
    learned: tuple[TermLogLift, sparse.csr_array],
) -> None:
    model, bags = learned
    added = np.add.reduceat(model.term_log_lift(bags), bags.indptr[:-1])
    np.testing.assert_allclose(added, model.log_lift(bags), atol=1e-9)


def test_lifts_are_of_a_distribution_and_the_empty_post_says_nothing(
    learned: tuple[TermLogLift, sparse.csr_array],
) -> None:
    model, bags = learned
    lift = model.log_lift(bags)
    np.testing.assert_allclose((model.prior_ * np.exp(lift)).sum(axis=1), 1)
    assert model.log_lift(sparse.csr_array((1, bags.shape[1])))[0] == pytest.approx(0, abs=1e-12)
    model.clip = 0.3
    assert np.abs(model.term_log_lift(bags)).max() <= 0.6
    model.clip = None


@pytest.mark.parametrize("bound", ["post", "term"])
def test_what_is_shown_stays_within_epsilon(learned: tuple[TermLogLift, sparse.csr_array], bound: str) -> None:
    model, bags = learned
    flags, shown = model.leaking(bags, epsilon=0.2, bound=bound)  # type: ignore[arg-type]
    assert 0 < flags.mean() < 0.9
    kept = sparse.csr_array(
        (bags.data[~flags], bags.indices[~flags], np.concatenate([[0], np.cumsum(~flags)])[bags.indptr]), bags.shape
    )
    np.testing.assert_allclose(model.log_lift(kept), shown, atol=1e-9)
    moved = shown if bound == "post" else model.term_log_lift(kept)
    assert np.abs(moved).max() <= 0.2 + 1e-9


def test_a_beginning_is_a_beginning() -> None:
    bags = bags_of(["a b c d", "", "e f"]).presence
    part = beginnings(bags, np.random.default_rng(0))
    for row in range(3):
        whole = bags.indices[bags.indptr[row] : bags.indptr[row + 1]].tolist()
        got = part.indices[part.indptr[row] : part.indptr[row + 1]].tolist()
        assert got == whole[: len(got)]
        assert len(got) < max(len(whole), 1)


# ---- what is real ------------------------------------------------------------------------------------------------


def test_p_values_are_exact_hypergeometric_tails() -> None:
    counts = TermCounts(np.array([[3, 0, 10], [1, 6, 12]]), np.array([4, 6, 22]), np.array([20, 30]))
    p, least = chances(counts)
    for at, (size, hit) in enumerate([(4, 1), (6, 6), (22, 12)]):
        tails = hypergeom.cdf(hit, 50, 30, size), hypergeom.sf(hit - 1, 50, 30, size)
        assert p[at] == pytest.approx(min(1, 2 * min(tails)))
    assert (least <= p + 1e-15).all()


def test_telling_words_are_real_and_others_are_not(audited: tacit.lenses.text.TextAuditResult) -> None:
    assert audited.verdict == "leak"
    assert {(t.term, t.secret) for t in audited.terms} == {("#tax", "R"), ("@left", "L")}
    assert {t.term for t in audited.conditional_terms} == {"#tax", "@left"}
    tax = next(t for t in audited.terms if t.term == "#tax")
    assert tax.log_lift == pytest.approx(-np.log(next(s.prior for s in audited.secrets if s.label == "R")))
    assert tax.log_lift > tax.chance
    assert audited.verdicts["real"] == 2
    assert audited.right > 0.8


def test_a_word_too_rare_to_be_shown_is_left_open_however_one_sided() -> None:
    counts = TermCounts(np.array([[0, 50], [5, 50]]), np.array([5, 100]), np.array([500, 500]))
    p, least = chances(counts)
    assert [int(v) for v in verdicts(np.r_[p, np.ones(200)], np.r_[least, np.zeros(200)])[:2]] == [1, 0]


@pytest.mark.long
def test_shuffled_secrets_show_no_leak_and_no_real_word() -> None:
    leaks = words = 0
    for seed in range(14):
        made = corpus(150, leak=0.9, seed=seed)
        rng = np.random.default_rng(seed)
        made["party"] = rng.permutation(made["party"]).tolist()
        found = audit(pd.DataFrame(made), text="text", secret="party", random_state=seed)
        leaks += found.verdict == "leak"
        words += found.verdicts["real"] > 0
    assert leaks <= 2
    assert words <= 2


def test_copies_count_once() -> None:
    made = corpus(120, leak=0.0)
    copied = {name: [*values, *values * 4] for name, values in made.items()}
    found = audit(pd.DataFrame(copied), text="text", secret="party")
    assert (found.posts, found.copies) == (120, 480)
    assert found.verdict == "no leak detected"


def test_three_secrets_and_a_missing_text_are_read() -> None:
    made = pd.DataFrame(corpus(300))
    made.loc[::3, "party"] = "M"
    made.loc[5, "text"] = None
    found = audit(made, text="text", secret="party")
    assert [s.label for s in found.secrets] == ["L", "M", "R"]
    assert any("no text" in note for note in found.notes)
    assert "chart" in report.to_html(found)


# ---- bad input ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("change", "words", "error", "said"),
    [
        ({"text": [""] * 600}, {}, DataError, "are empty or hold no word"),
        ({"text": ["?!"] * 600}, {}, DataError, "are empty or hold no word"),
        ({"party": ["L"] * 600}, {}, DataError, "has only one value in"),
        ({"text": list(range(600))}, {}, DataError, "holds number, not text: name another; columns of text: place"),
        ({"party": [str(k % 60) for k in range(600)]}, {}, DataError, "has 60 values"),
        ({"party": ["L"] * 599 + ["R"]}, {}, DataError, "'R' has 1 different post"),
        ({}, {"text": "txt"}, ColumnError, "did you mean 'text'"),
        ({}, {"secret": "text"}, ArgumentError, "both text and secret"),
        ({}, {"min_count": 10_000}, DataError, "min_count"),
    ],
)
def test_what_cannot_be_read_is_refused_with_the_way_out(
    posts: dict[str, list[str]], change: dict[str, list[str]], words: dict[str, str], error: type[Exception], said: str
) -> None:
    with pytest.raises(error, match=said):
        audit(pd.DataFrame({**posts, **change}), **{"text": "text", "secret": "party", **words})  # type: ignore[arg-type]


# ---- models and explanations -------------------------------------------------------------------------------------


def test_a_saved_model_reads_as_it_did(posts: dict[str, list[str]], tmp_path: Path) -> None:
    path = tmp_path / "words.tacit"
    audit(pd.DataFrame(posts), text="text", secret="party", save_model=path)
    model = TextModel.load(path)
    read = model.read("word1 says #Tax to word2, and nobody…")
    assert "".join(piece.text for piece in read.pieces) == "word1 says #Tax to word2, and nobody…"
    assert (read.secret, read.unknown) == ("R", 4)
    strongest = max(read.pieces, key=lambda piece: piece.moved)
    assert (strongest.text, strongest.secret, strongest.verdict) == ("#Tax", "R", "real")
    found = explain_text(path, ["#tax", "hello"], epsilon=0.5)
    assert (found.verdict, [post.risk > 0.5 for post in found.posts]) == ("beyond", [True, False])
    assert "#tax" in report.to_html(found)
    assert "#tax" in report.to_text(found)
    first = report.to_text(found, width=100)
    assert "times as likely (" in first
    # Of a post without a known word nobody is named but whom one would guess anyhow.
    assert found.posts[1].posterior == max(model.terms.prior_)
    assert "Log-lift" not in first


@pytest.mark.parametrize("content", few([b"", b"PK\x03\x04 nothing", b"not a zip at all"]))
def test_a_file_that_is_no_model_is_refused(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "words.tacit"
    path.write_bytes(content)
    with pytest.raises(SourceError, match="not a model of words"):
        TextModel.load(path)


def test_a_model_with_something_to_run_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "words.tacit"
    with path.open("wb") as file:
        np.savez(file, facts=np.array([{"a": 1}], dtype=object))
    with pytest.raises(SourceError, match="not a model of words"):
        TextModel.load(path)


# ---- masking -----------------------------------------------------------------------------------------------------


def test_masks_take_the_place_of_words_and_nothing_else() -> None:
    post = "The #Tax, the @Left & https://a.b/c: tax!"
    assert Masking().masked(post, {"#tax", "@left"}) == "The ▇, the ▇ & <url> tax!"
    assert Masking(generalise=True).masked(post, {"#tax", "@left", "tax"}) == "The #tag, the @someone & <url> ▇!"


@pytest.mark.parametrize("generalise", [False, True])
def test_a_masked_post_is_recognised_and_a_changed_one_is_not(generalise: bool) -> None:
    masking = Masking(generalise=generalise)
    post = "The #t #tag #tags and @someone said #taxes #t"
    for hidden in ({"#t"}, {"#tags", "the"}, {"@someone", "#taxes", "#t"}, set[str]()):
        found = masking.explains(post, masking.masked(post, hidden))
        assert found is not None
    assert masking.explains(post, post.replace("said", "says")) is None
    assert masking.explains(post, post + "!") is None
    assert masking.explains(post, post.replace(" and", "")) is None


@pytest.mark.parametrize("mask", ["", "x", "a b", "_1", "▇" * 21])
def test_a_mask_that_could_be_a_word_is_refused(mask: str) -> None:
    with pytest.raises(ArgumentError, match="cannot be the mask"):
        Masking(mask)


# ---- release -----------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def release(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("posts")
    write(folder / "posts.csv", corpus(many(300, 600), leak=1.0))
    protect(folder / "posts.csv", text="text", secret="party", epsilon=0.4, out=folder / "out", keep="place")
    return folder


def test_a_release_masks_the_telling_words_and_says_what_it_is(release: Path) -> None:
    out = release / "out"
    assert sorted(p.name for p in out.iterdir()) == ["certificate.json", "data.csv", "private", "report.html"]
    with (out / "data.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert list(rows[0]) == ["place", "text"]
    assert not any("#tax" in row["text"] or "@left" in row["text"] for row in rows)
    towns, numbers = [row["place"] for row in rows], [int(row["text"].split()[1][:-1]) for row in rows]
    assert numbers != sorted(numbers)
    assert towns == [f"town{k % 3}" for k in numbers]
    certificate = json.loads((out / "certificate.json").read_text("utf-8"))
    assert (certificate["kind"], certificate["order"]) == ("text", "random")
    assert "certifies nothing" in certificate["claim"]
    assert certificate["left_out"] == ["party"]
    best = max(a["retrained"] for a in certificate["adversaries"])
    assert best < max(a["before"] for a in certificate["adversaries"]) - 0.1


def test_what_is_published_names_no_masked_term(release: Path) -> None:
    out = release / "out"
    for name in ("report.html", "certificate.json"):
        assert "#tax" not in (out / name).read_text("utf-8")
    told = json.loads((out / "private" / "terms.json").read_text("utf-8"))
    assert {"#tax", "@left"} <= {row["term"] for row in told["masked"]}
    assert (out / "private").stat().st_mode & 0o077 == 0


def test_verify_recomputes_what_can_be_and_finds_what_was_changed(release: Path, tmp_path: Path) -> None:
    found = verify(release / "out", against=release / "posts.csv")
    assert found.verdict == "holds", [c for c in found.checks if not c.passed]
    assert "Nothing is certified" in found.headline
    assert any("cannot be checked" in note for note in found.notes)
    assert verify(release / "out").verdict == "not checked"
    lost = shutil.copytree(release / "out", tmp_path / "lost")
    (lost / "private" / "order.npz").unlink()
    unsure = verify(lost, against=release / "posts.csv")
    assert (unsure.verdict, "order.npz" in unsure.headline) == ("not checked", True)
    bad = tmp_path / "bad"
    shutil.copytree(release / "out", bad)
    data = bad / "data.csv"
    # Which words are masked depends on chance, so any of them may be gone.
    data.write_text(re.sub(r"word\d", "another", data.read_text("utf-8"), count=1), "utf-8")
    failed = {check.name for check in verify(bad, against=release / "posts.csv").checks if check.passed is False}
    other = {"released data is the data certified", "texts are the originals except for masked words"}
    assert failed == {*other, "file is written plainly"}


def broken_lines(release: Path, out: Path) -> list[str]:
    return [check.name for check in verify(out, against=release / "posts.csv").checks if check.passed is False]


@pytest.mark.parametrize(
    ("field", "value", "line"),
    [
        ("epsilon", 0.1, "estimate"),
        ("words_masked", 0.0, "words masked"),
        ("posts_touched", 0.0, "posts touched"),
        ("kept", ("text",), "columns"),
    ],
)
def test_a_certificate_that_was_made_nicer_is_found_out_by_its_own_line(
    release: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, field: str, value: Any, line: str
) -> None:
    # Training adversaries takes long, and says nothing about these numbers.
    done = Check("adversaries trained again", True, "")
    monkeypatch.setattr("tacit.lenses.text.verify._check_of_adversaries", lambda *_, **__: done)
    out = shutil.copytree(release / "out", tmp_path / "out")
    honest = broken_lines(release, out)
    forge(out, **{field: value})
    assert [name for name in broken_lines(release, out) if name not in honest] == [line]


def test_an_adversary_that_guesses_more_than_was_said_is_found_out(release: Path, tmp_path: Path) -> None:
    out = shutil.copytree(release / "out", tmp_path / "out")
    adversaries = read_certificate(out).adversaries
    forge(out, adversaries=tuple(replace(each, retrained=0.5) for each in adversaries))
    assert "adversaries trained again" in broken_lines(release, out)


def test_a_column_that_is_kept_is_that_of_the_original(release: Path, tmp_path: Path) -> None:
    out = shutil.copytree(release / "out", tmp_path / "out")
    data = out / "data.csv"
    data.write_text(data.read_text("utf-8").replace("town0", "town1", 1), "utf-8")
    forge(out, output=replace(read_certificate(out).output, sha256=file_sha256(data)))
    assert "kept columns" in broken_lines(release, out)


def test_a_file_that_says_more_than_its_cells_is_found_out(release: Path, tmp_path: Path) -> None:
    out = shutil.copytree(release / "out", tmp_path / "out")
    data = out / "data.csv"
    data.write_text(data.read_text("utf-8") + "\n", "utf-8")
    forge(out, output=replace(read_certificate(out).output, sha256=file_sha256(data)))
    assert "file is written plainly" in broken_lines(release, out)


def test_the_secret_is_kept_by_its_own_word_alone(posts: dict[str, list[str]], tmp_path: Path) -> None:
    frame = pd.DataFrame(posts)
    with pytest.raises(ArgumentError, match="keep_secret=True"):
        protect(frame, text="text", secret="party", epsilon=0.5, out=tmp_path / "out", keep="party")
    with pytest.raises(DataError, match="choose another"):
        protect(frame, text="text", secret="party", epsilon=0.5, out=tmp_path / "out", mask="!")
    assert not (tmp_path / "out").exists()


# ---- commands ----------------------------------------------------------------------------------------------------


def test_the_whole_job_from_posts_to_a_verified_release(run: Run) -> None:
    write(Path("posts.csv"), corpus(many(300, 600)))
    code, out, err = run(
        "audit", "posts.csv", "--text", "text", "--secret", "party", "--report", "a.html", "--save-model", "m.tacit"
    )
    assert (code, err) == (0, "")
    assert "#tax" in out
    assert "#tax" in Path("a.html").read_text("utf-8")
    code, out, _ = run("explain-text", "--model", "m.tacit", "--epsilon", "0.5", stdin="The #tax, again\nhello\n")
    assert code == 1
    first, second = out.splitlines()
    assert first.startswith("✗")
    assert "#tax" in first
    assert second.startswith("✓")
    assert second.endswith("no known word")
    code, out, _ = run("explain-text", "--model", "m.tacit", "--format", "json", "--whole", stdin="hello\n#tax")
    told = json.loads(out)
    assert (code, told["secret"], told["words"][0]["word"]) == (0, "R", "#tax")
    words = ("--text", "text", "--secret", "party", "--epsilon", "0.5", "--keep-order", "-o", "out")
    assert run("protect", "posts.csv", *words)[0] == 0
    code, out, _ = run("verify", "out", "--against", "posts.csv")
    assert (code, "posts are released unchanged" in " ".join(out.split())) == (1, True)
    assert "although what is stated about it is true" in " ".join(out.split())
    code, out, _ = run("attack", "out", "--against", "posts.csv", "--without", "style")
    assert (code, "PARTS ARE UNTOUCHED" in out) == (1, True)


def test_json_and_bits_and_epsilon_of_an_audit(run: Run, posts: dict[str, list[str]]) -> None:
    write(Path("posts.csv"), posts)
    words = ("audit", "posts.csv", "--text", "text", "--secret", "party", "--epsilon", "0.5", "--format", "json")
    code, out, _ = run(*words)
    nats = json.loads(out)
    assert (code, nats["result"]) == (1, "TextAuditResult")
    bits = json.loads(run(*words, "--bits")[1])
    assert bits["terms"][0]["log_lift"] == pytest.approx(nats["terms"][0]["log_lift"] / np.log(2))


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--text", "text", "--secret", "party", "--bins", "a=3"), "--bins a=3 is not for posts"),
        (("--secret", "party", "--top", "3"), "--top 3 is not for tables"),
        (("--text", "text"), "--secret COLUMN"),
        (("--text", "nothing", "--secret", "party"), "no column 'nothing'"),
    ],
)
def test_words_that_do_not_fit_are_refused(
    run: Run, posts: dict[str, list[str]], words: tuple[str, ...], said: str
) -> None:
    write(Path("posts.csv"), posts)
    code, _, err = run("audit", "posts.csv", *words)
    assert code == 2
    assert said in err


def test_posts_from_other_formats_read_alike(posts: dict[str, list[str]], tmp_path: Path) -> None:
    frame = pd.DataFrame(posts)
    frame.to_parquet(tmp_path / "posts.parquet")
    frame.to_json(tmp_path / "posts.jsonl", orient="records", lines=True)
    write(tmp_path / "posts.csv", posts)
    for name in ("posts.parquet", "posts.jsonl", "posts.csv"):
        assert read_posts(tmp_path / name, text="text", secret="party").texts == tuple(posts["text"])


# ---- words of every script ------------------------------------------------------------------------------------------


ENGLAND = "\U0001f3f4\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f"


@pytest.mark.parametrize(
    ("post", "said"),
    [
        ("👩‍👩‍👧‍👦👍🏽 🇩🇪🇫🇷 ❤️❤ 1️⃣#️⃣", ["👩‍👩‍👧‍👦", "👍🏽", "🇩🇪", "🇫🇷", "❤", "❤", "1⃣", "#⃣"]),
        (ENGLAND + "!", [ENGLAND]),
        ("שלום, צה״ל‏ مـــرحبا #العربية", ["שלום", "צה״ל", "مرحبا", "#العربية"]),
        ("Ⓣⓐⓧ U.S. 1,000.50 l·l naïve naïve", ["tax", "u.s", "1,000.50", "l·l", "naïve", "naïve"]),
        ("東京の天気。#東京タワー @山田 iPhone", ["東京", "の", "天気", "#東京タワー", "@山田", "iphone"]),
        ("我今天去北京大学", ["我", "今天", "去", "北京", "大学"]),
        ("สวัสดีครับ อากาศดีมาก", ["สวัสดี", "ครับ", "อากาศ", "ดี", "มาก"]),
    ],
)  # fmt: skip
def test_words_of_every_script_are_whole_and_in_their_places(post: str, said: list[str]) -> None:
    pytest.importorskip("icu4py", reason="icu4py is not installed (extra `text`)")
    assert terms(post) == said
    assert [token.term for token in tokens(post)] == said
    assert all(terms(post[token.start : token.end]) == [token.term] for token in tokens(post))


def test_without_icu_words_that_no_space_divides_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "icu4py", None)
    monkeypatch.setitem(sys.modules, "icu4py.breakers", None)
    assert terms("plain words, 한국어 and #東京") == ["plain", "words", "한국어", "and", "#東京"]
    with pytest.raises(EngineError, match=r"install tacit\[text\]"):
        terms("今日は")
