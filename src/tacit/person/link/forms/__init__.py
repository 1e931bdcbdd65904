"""Values in an engine: what is missing, normal forms, and what may be right."""
