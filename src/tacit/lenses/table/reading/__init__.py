"""A release in cells, used by whoever has it: counts, means of groups, and rows to train a model on."""
