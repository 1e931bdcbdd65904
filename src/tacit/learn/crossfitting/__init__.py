"""Models of several folds: every record is scored by models that never saw it."""
