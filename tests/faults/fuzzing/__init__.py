"""Mutated files of every kind that this library reads, judged in child processes with limits on memory and time.

`python -m tests.faults.fuzzing --cases 1000 --kinds model checkpoint` runs some; a case that failed is run again with
`--replay` and its number. Kinds are model, checkpoint, run and data.
"""
