"""What a reader of a release keeps of the table as it was given: of each column, of associations, of its uses."""
