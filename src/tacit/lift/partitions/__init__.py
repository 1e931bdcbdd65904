"""Merging released values: what a merged set attains, the watchdog's sets, and the search for the best one."""
