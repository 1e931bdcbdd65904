"""What the verbs answer about images."""
