"""Which records are likely one person's: the model of Fellegi and Sunter, fitted to the records themselves (EM)."""

from tacit.person.link.likely.clusters import held_together
from tacit.person.link.likely.model import LikelyPairs, likely_pairs

__all__ = ["LikelyPairs", "held_together", "likely_pairs"]
