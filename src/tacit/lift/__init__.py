"""Pure mathematics of log-lift: numpy and scipy in, numbers out; no files, no clock, no global randomness."""
