"""A model of words in a file: what it needs to read a post, and nothing that could be run."""

from __future__ import annotations

import io
import json
from collections.abc import Mapping
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacit import __version__
from tacit.document import Piece, ReadPost
from tacit.errors import Command, SourceError, sentence
from tacit.learn import TermLogLift
from tacit.learn.arrays import Codes
from tacit.lenses.text.posts import Vocabulary, bags_by
from tacit.lenses.text.terms import VERDICTS
from tacit.lenses.text.words import tokens
from tacit.lenses.trimming import trim_at
from tacit.loading import DAMAGE, arrays_of, bytes_in, json_of
from tacit.tables.writing import whole_file

FORMAT = "tacit text model 1"
SUFFIX = ".tacit"


@dataclass(frozen=True)
class TextModel:
    """What was learned from posts: terms with weights, how many posts hold each, and whether each is real.

    Made by ``audit_text`` and ``protect_text``; read with :meth:`load`.
    """

    terms: TermLogLift
    vocabulary: Vocabulary
    secrets: tuple[str, ...]
    secret: str
    verdicts: Codes

    def read(self, post: str, *, actual: str | None = None) -> ReadPost:
        """A post in pieces, with what every word adds given the words before it.

        Guarantees
        ----------
        The texts of the pieces, joined, are the post.
        """
        bag = bags_by([post], self.vocabulary)
        lift = self.terms.log_lift(bag)[0]
        density = dict(zip(bag.indices.tolist(), self.terms.term_log_lift(bag), strict=True))
        pieces, at, unknown = [], 0, 0
        for token in tokens(post):
            if token.start > at:
                pieces.append(Piece(post[at : token.start]))
            place, at = self.vocabulary.places.get(token.term), token.end
            written = post[token.start : token.end]
            if place is None:
                unknown += 1
                pieces.append(Piece(written))
                continue
            # A word said again says nothing new.
            lifts = density.pop(place, np.zeros(len(self.secrets)))
            toward = int(np.argmax(lifts))
            verdict, moved = VERDICTS[int(self.verdicts[place])], float(np.abs(lifts).max())
            pieces.append(Piece(written, float(lifts[toward]), moved, self.secrets[toward], verdict))
        if at < len(post):
            pieces.append(Piece(post[at:]))
        # A post points to the secret that it makes likelier, not to the one it rules out; if it says nothing, to the
        # likeliest.
        toward = int(np.lexsort((self.terms.prior_, lift))[-1])
        return ReadPost(
            pieces=tuple(pieces),
            risk=float(np.abs(lift).max()),
            secret=self.secrets[toward],
            log_lift=float(lift[toward]),
            posterior=float(self.terms.prior_[toward] * np.exp(lift[toward])),
            unknown=unknown,
            actual=actual,
        )

    def save(self, path: str | PathLike[str]) -> None:
        """Write the model: arrays and names, no code. The file appears whole or not at all."""
        facts = {
            "format": FORMAT,
            "tacit_version": __version__,
            "secret": self.secret,
            "secrets": list(self.secrets),
            "terms": list(self.vocabulary.terms),
            "strength": self.terms.strength_,
        }
        buffer = io.BytesIO()
        np.savez_compressed(
            buffer,
            facts=np.frombuffer(json.dumps(facts, ensure_ascii=False).encode("utf-8"), dtype=np.uint8),
            weights=self.terms.weights_,
            prior=self.terms.prior_,
            posts=self.vocabulary.posts,
            verdicts=self.verdicts.astype(np.int8),
        )
        with whole_file(path, for_owner=True) as draft:
            draft.write_bytes(buffer.getvalue())

    @classmethod
    def load(cls, path: str | Path) -> TextModel:
        """Read a model that an audit of posts saved.

        Guarantees
        ----------
        Nothing in the file is run: it holds arrays of numbers and one JSON text.
        """
        data = bytes_in(path, "model")
        try:
            return _loaded(arrays_of(data))
        except DAMAGE as error:
            words = "{path} is not a model of words made by this Tacit ({error}); make one with {audit}"
            audit = Command("audit", "POSTS", text="COLUMN", secret="COLUMN", save_model="FILE.tacit")
            raise SourceError(sentence(words, path=path, error=type(error).__name__, audit=audit)) from error


def _loaded(arrays: Mapping[str, NDArray[Any]]) -> TextModel:
    facts: dict[str, Any] = json_of(arrays["facts"].tobytes())
    weights, prior = np.asarray(arrays["weights"], dtype=np.float64), np.asarray(arrays["prior"], dtype=np.float64)
    posts, verdicts = arrays["posts"].astype(np.int64), arrays["verdicts"].astype(np.int64)
    terms, secrets = facts["terms"], facts["secrets"]
    fits = weights.shape == (len(terms), len(secrets)) and prior.shape == (len(secrets),)
    fits = fits and posts.shape == verdicts.shape == (len(terms),) and len(set(terms)) == len(terms)
    sound = np.isfinite(weights).all() and (prior > 0).all() and abs(prior.sum() - 1) < 1e-9
    readable = facts["format"] == FORMAT and all(isinstance(word, str) for word in [*terms, *secrets, facts["secret"]])
    if not (fits and sound and readable and len(secrets) > 1 and ((verdicts >= 0) & (verdicts < len(VERDICTS))).all()):
        raise ValueError("parts do not fit")
    model = TermLogLift(clip=trim_at(prior))
    model.weights_, model.prior_, model.strength_ = weights, prior, float(facts["strength"])
    return TextModel(model, Vocabulary(tuple(terms), posts), tuple(secrets), facts["secret"], verdicts)
