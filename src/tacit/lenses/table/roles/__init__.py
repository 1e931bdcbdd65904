"""What the columns of a table seem to be before anybody has said what they are: guesses, each with its reason."""
