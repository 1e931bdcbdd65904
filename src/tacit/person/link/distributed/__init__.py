"""Resolution on a Spark cluster: the same clusters as on one machine, as distributed plans."""

from tacit.person.link.distributed import components, resolving, sharing
from tacit.person.link.distributed.resolving import resolved_on_spark

__all__ = ["components", "resolved_on_spark", "resolving", "sharing"]
