"""Who could be found in a table, and by whom: an audit of the table as given, and an adversary who links a release."""
