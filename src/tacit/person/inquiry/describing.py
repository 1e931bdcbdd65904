"""What adversaries do, in a few words, and what their answers leave out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from tacit.person.answers.words import listed
from tacit.person.link.brought import FileClusters, LikelyClusters, SplinkClusters, TrueClusters
from tacit.person.resolve.adversaries import Adversary
from tacit.person.resolve.steps import Augment, Correct, Generalise, Grouping, Normalise, Resolve, Step

MERGED = {
    "union": "keeps every value",
    "consensus": "keeps the value most records agree on (one that says less speaks for the one that says more)",
    "vote": "weighs values by votes",
    "diluted": "gives each value its share in the class",
}


def does(spec: Adversary, others: Sequence[Adversary] = ()) -> str:
    """What an adversary does, in a few words; if it only extends one of the others, what it adds to that one."""
    for other in others:
        more = spec.steps[len(other.steps) :]
        if more and other.steps and replace(other, name=spec.name, steps=(*other.steps, *more)) == spec:
            return f"as {other.name}, and {listed(list(map(_step, more)))}"
    parts = list(dict.fromkeys(map(_step, spec.steps)))
    if not parts:
        return "reads each record by itself"
    if any(isinstance(step, Grouping) for step in spec.steps):
        parts.append(MERGED[spec.merge])
    if spec.keep_base:
        parts.append("also keeps the original records")
    return ", ".join(parts)


def _step(step: Step) -> str:
    if isinstance(step, Normalise):
        return "normalises values" if step.labels is None else f"normalises {listed(step.labels)}"
    if isinstance(step, Correct):
        return f"corrects {step.label}"
    if isinstance(step, Generalise):
        return f"generalises {step.label}"
    if isinstance(step, Augment):
        return f"adds {step.adds} from {step.given}"
    if isinstance(step, Resolve):
        return f"joins records that agree on {listed([' + '.join(rule) for rule in step.rules.alternatives], 'or')}"
    if isinstance(step, FileClusters):
        return f"joins records as {step.path.name} does"
    if isinstance(step, LikelyClusters):
        return "joins records that are likely one person's"
    if isinstance(step, TrueClusters):
        return "joins the records that somebody who knows the truth recognises"
    assert isinstance(step, SplinkClusters)
    return f"joins records that Splink takes to be one person's with probability {step.threshold:g} or more"


def unseen_note(adversaries: Sequence[Adversary], what: str) -> list[str]:
    """A note: clusters that were made elsewhere do not say what a new record would be joined with."""
    names = [one.name for one in adversaries if any(isinstance(step, FileClusters) for step in one.steps)]
    if not names:
        return []
    return [
        f"the clusters of {listed(names)} were made without {what}, which stays alone there: with it they may join "
        "more, and the leakage may be larger"
    ]


def fitted_once(spec: Adversary) -> list[str]:
    """A note: likely pairs were found while everything was still there, including what is taken away.

    Fitting the model again for every source and every plan would take as long as an audit each time, and audit, removal
    and release would no longer agree about a source.
    """
    if not any(isinstance(step, LikelyClusters) for step in spec.steps):
        return []
    return [
        f"what is left without a source or after an action is measured with the pairs that {spec.name} found likely "
        "while everything was there, so that every command says the same; fitted again without it, the pairs may "
        "differ, and the leakage may be larger or smaller"
    ]
