"""What the columns of a table seem to be, before anybody has said so: guesses, each with its reason."""
