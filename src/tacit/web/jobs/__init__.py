"""Jobs: one request each, answered by a process of its own, and kept on the disk until they are forgotten."""
