"""What a user asks for: one request, one answer."""
