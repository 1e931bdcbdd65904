"""Who could be found in a table, and by whom: an audit of the original table, and an adversary who links a release."""
