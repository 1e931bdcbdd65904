"""The answers of audit, protect and attack on a table, each with its document."""
