"""The answer of a gate in the formats that pipelines read."""
