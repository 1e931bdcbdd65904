"""What the verbs answer about posts."""
