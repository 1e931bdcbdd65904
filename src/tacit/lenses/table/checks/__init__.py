"""The lines of a verification of a table's release."""
