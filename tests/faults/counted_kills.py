"""How many runs were killed, and where."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

# What comes after the swap: the draft, with the old release in it, is removed and the lock let go.
AFTERWARDS = (".whole_directory:", ".drafted:", ".locked:", "._removed:")


def inside_the_swap(steps: Sequence[str]) -> bool:
    """Whether a run that came so far was between the first and the last line of the function that swaps."""
    first = next((at for at, step in enumerate(steps) if "._put_in_place:" in step), None)
    named = steps[-1] in ("name is free", "new moved in", "old given up")
    return named or (first is not None and not any(after in step for step in steps[first:] for after in AFTERWARDS))


@dataclass
class Kills:
    """How many runs were killed, at which steps, and after how many of these kills all that was found was whole."""

    steps: Counter[str] = field(default_factory=Counter)
    in_the_swap: int = 0
    whole: int = 0

    def add(self, steps: Sequence[str]) -> None:
        self.steps[steps[-1]] += 1
        self.in_the_swap += inside_the_swap(steps)

    def __str__(self) -> str:
        kills = self.steps.total()
        functions: Counter[str] = Counter()
        for step, count in self.steps.items():
            functions[step.partition(":")[0]] += count
        return (
            ", ".join(f"{name} {count}" for name, count in functions.most_common())
            + f"\n{kills:,} kills at {len(self.steps)} different steps, {self.in_the_swap:,} of them inside the swap: "
            f"{kills - self.whole} half releases"
        )
