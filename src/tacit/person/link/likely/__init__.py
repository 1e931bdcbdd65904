"""Which records are likely one person's: the Fellegi-Sunter model, fitted to the records themselves (EM)."""

from tacit.person.link.likely.clusters import held_together
from tacit.person.link.likely.model import LikelyModel, LikelyPairs, learned, likely_near, likely_pairs

__all__ = ["LikelyModel", "LikelyPairs", "held_together", "learned", "likely_near", "likely_pairs"]
