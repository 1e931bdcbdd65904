"""The person lens: how much of one person's file can be pieced together from records with confidences.

Pure mathematics on values, as ``lift`` is: no files, no engine, no clock, no hidden chance.
"""
