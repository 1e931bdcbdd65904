"""What several releases about the same people say together."""
