"""The search for cells: grouped records and bounds in, a tree of cuts out. Pure NumPy, without tables."""
