"""Charts about how much of a person's file is known."""
