"""What the browser, or a script, can ask for: one file a kind of question."""
