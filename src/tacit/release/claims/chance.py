"""Where the randomness of a release came from, in words."""

from __future__ import annotations

NOTHING_DRAWN = "None: the mechanism is deterministic."


def randomness_of(*, drawn: bool, repeatable: bool, learned_here: bool = False) -> str:
    """Where the randomness of a release came from."""
    drew = NOTHING_DRAWN
    if drawn and not repeatable:
        # What is learned cannot be drawn again exactly: its numbers differ from machine to machine.
        kept = "the key was not kept" if learned_here else "the certificate commits to the key, and the owner keeps it"
        drew = f"Drawn with a 256-bit key from the system's secure source; {kept}."
    elif drawn:
        drew = (
            "WARNING: a random_state was given, so anyone who knows or guesses it can repeat the draws. Use it for "
            "tests, not for publishing."
        )
    if not learned_here:
        return drew
    if not repeatable:
        return f"{drew} Learned with a seed from the system's secure source, which is not published."
    return (
        f"{drew} WARNING: what was learned can be learned again with the random_state that was given, and the "
        "published estimates then tell right guesses of the secrets from wrong ones. Use it for tests, not for "
        "publishing."
    )
