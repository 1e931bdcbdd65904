"""The words that answers about posts share."""

from __future__ import annotations

OF_A_POST: tuple[tuple[str, str], ...] = (
    ("risk of a post", "The largest absolute log-lift of its words together, over all secrets. Higher is riskier."),
    ("prior", "The share of a secret in all posts: what an adversary believes before reading."),
)

DEFINITIONS: tuple[tuple[str, str], ...] = (
    (
        "log-lift of a term",
        "How far knowing that a post has the term moves the belief in a secret: the logarithm of the secret's share "
        "among the posts that have it, over its share in all. 0: nothing learned.",
    ),
    (
        "given the words before",
        "What a term adds when the post is read from its beginning: the log-lift of the words so far and this one, "
        "minus the log-lift without it. Words that repeat earlier ones add little. It is learned: an estimate.",
    ),
    (
        "real, noise, cannot tell",
        "Real: further from chance than any of all the terms would be, 19 times in 20, if words and secret had nothing "
        "to do with each other. Noise: as chance has it. Cannot tell: too rare to be shown, or in between.",
    ),
    *OF_A_POST,
)
