"""The kinds of scales, one file each."""
