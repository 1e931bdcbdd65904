"""The lens for vectors: embeddings, in a column of lists or an array, and what they give away."""
