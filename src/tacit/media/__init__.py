"""Images and texts to features, and back."""
