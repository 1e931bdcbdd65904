"""Sources read into records."""

from tacit.person.sources.places import Address
from tacit.person.sources.pool import PoolSource, RecordPool
from tacit.person.sources.reading import read_pool, read_references
from tacit.person.sources.source import PopulationSpec, Source

__all__ = ["Address", "PoolSource", "PopulationSpec", "RecordPool", "Source", "read_pool", "read_references"]
