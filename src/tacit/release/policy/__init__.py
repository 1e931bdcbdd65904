"""A policy compared with what is to go on: the lines of a gate, and those about a certificate."""
