"""What the browser, or a script, can ask for: one file per kind of question."""
