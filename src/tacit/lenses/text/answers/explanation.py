"""The answer of ``explain_text``: posts read one by one."""

from __future__ import annotations

from dataclasses import dataclass

from tacit.document import Document, Information, MarkedPosts, ReadPost, Section, badge
from tacit.lenses.text.answers.shared import DEFINITIONS
from tacit.report.result import Result


@dataclass(frozen=True)
class TextExplanation(Result):
    """Posts read one by one: what gives each away."""

    posts: tuple[ReadPost, ...]
    epsilon: Information | None
    verdict: str
    headline: str

    def document(self) -> Document:
        """Every post with its telling words."""
        secrets = {post.secret for post in self.posts}
        secrets |= {piece.secret for post in self.posts for piece in post.pieces if piece.secret is not None}
        return Document(
            kind="reading of posts",
            name="Tacit reading of posts",
            badge=badge(self.verdict),
            headline=self.headline,
            sections=(Section("", (MarkedPosts(self.posts, sorted(secrets)),)),),
            reading=DEFINITIONS,
        )
