"""Spark: its session, rows that reach the driver in order, and the engine made of them."""

from tacit.tables.engines.spark.engine import SparkEngine

__all__ = ["SparkEngine"]
