"""Sadeghi, Ding, Rakotoarivelo: On Properties and Optimization of Information-theoretic Privacy Watchdog."""
