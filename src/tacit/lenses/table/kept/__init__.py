"""What a reader of a release keeps of the original table: of each column, of associations, of its uses."""
