"""A fuzzer: good inputs of every kind are damaged, and what Tacit does with them is judged.

``python -m fuzzing --seconds 60 --seed 0``, with ``tests`` on the path. A case is settled by its seed and its number; a
process of its own runs some hundreds of them, so that a signal, a hang or a hunger for memory is laid to one of them.
"""
