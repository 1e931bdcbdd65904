"""What a sample proves of the people it was drawn from, and what several releases say together."""
