"""A case whose records are on a Spark cluster: they stay there, but for those near the person."""

from tacit.person.inquiry.spread.answering import answered_on_spark

__all__ = ["answered_on_spark"]
