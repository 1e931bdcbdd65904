"""How anyone who has a release in cells uses it: counts, means of groups, and rows to train a model on."""
