"""The search for cells: grouped records and bounds in, a tree of cuts out. Pure numpy; it knows nothing of tables."""
