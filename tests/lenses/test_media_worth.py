"""What a release is worth to its reader: likeness, coherence, words kept and another label, measured and told."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse

import tacit
from tacit.lenses.images.worth import image_likeness, ssim
from tacit.lenses.text.worth import npmi, topic_worth


def test_likeness_is_that_of_the_formulas() -> None:
    rng = np.random.default_rng(0)
    before = rng.integers(0, 256, (20, 16, 12), dtype=np.uint8)
    same = image_likeness(before, before)
    assert (same.psnr, same.ssim, same.compared) == (math.inf, 1.0, 20)
    moved = np.where(before < 246, before + 10, before - 10).astype(np.uint8)
    assert image_likeness(before, moved).psnr == pytest.approx(10 * math.log10(255**2 / 100), abs=0.05)
    other = rng.integers(0, 256, before.shape, dtype=np.uint8)
    assert abs(image_likeness(before, other).ssim) < 0.1 < 0.9 < image_likeness(before, moved).ssim
    # Flat pictures have no structure: what is left is how near their brightness is.
    dark, light = np.full((1, 8, 8), 50.0), np.full((1, 8, 8), 100.0)
    steady = (0.01 * 255) ** 2
    assert ssim(dark, light)[0] == pytest.approx((2 * 50 * 100 + steady) / (50**2 + 100**2 + steady))


def test_coherence_is_one_of_words_that_are_always_together_and_minus_one_of_those_that_never_are() -> None:
    # Words 0 and 1 are in every second post together, 2 and 3 in the others; 4 in all.
    presence = sparse.csr_array(np.array([[1, 1, 0, 0, 1], [0, 0, 1, 1, 1]] * 50, dtype=float))
    together = npmi(presence)
    assert together[0, 1] == pytest.approx(1)
    assert together[0, 2] == -1
    assert together[0, 4] == pytest.approx(0)
    topic = np.arange(100) % 2
    found = topic_worth(presence, [[0, 1], [2, 3]], topic, np.arange(100) < 30)
    assert found.coherence == 1 > found.coherence_by_chance
    assert found.words_kept == pytest.approx(2 / 3, abs=1e-3)
    assert topic_worth(presence, [[0, 1], [2, 3]], 1 - topic, np.arange(100) < 30).words_kept == 0


@pytest.mark.long
def test_a_use_of_masked_posts_is_told_beside_that_of_the_originals(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    side, theme = rng.integers(2, size=300), rng.integers(2, size=300)
    lines = [
        f"{'LR'[s]},{t},{('tax', 'rain')[t]} {' '.join(rng.choice(['a1', 'b2', 'c3', 'd4'], 3))} {('left', 'right')[s]}"
        for s, t in zip(side, theme, strict=True)
    ]
    (tmp_path / "posts.csv").write_text("\n".join(["party,theme,text", *lines]) + "\n")
    asked = {"text": "text", "secret": "party", "epsilon": 0.3, "mechanism": "mask", "random_state": 0}
    made = tacit.protect(tmp_path / "posts.csv", use="theme", out=tmp_path / "r", **asked)
    use = made.certificate.use
    assert (use.column, use.tested_on) == ("theme", len({line.split(",", 2)[2] for line in lines}))
    assert use.after > 0.95 > use.prior
    assert "theme predicted right" in str(made)
    with pytest.raises(tacit.TacitError, match="name one column"):
        tacit.protect(tmp_path / "posts.csv", use=["theme", "text"], out=tmp_path / "s", **asked)
