"""Estimators that learn log-lift from records, to scikit-learn's contract."""
