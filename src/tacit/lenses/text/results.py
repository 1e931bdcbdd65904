"""What the workflows on text found, as frozen values."""

from __future__ import annotations

from dataclasses import dataclass

from tacit.document import Information


@dataclass(frozen=True)
class PostShare:
    """Share of the posts whose estimated risk is within epsilon."""

    epsilon: Information
    posts: float
