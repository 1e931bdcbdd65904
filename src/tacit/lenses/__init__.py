"""Tables, images and text: each its question, findings, adversaries and words. They do not import each other."""
