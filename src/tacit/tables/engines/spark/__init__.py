"""Spark: its session, rows that come to the driver in their order, and the engine made of them."""

from tacit.tables.engines.spark.engine import SparkEngine

__all__ = ["SparkEngine"]
