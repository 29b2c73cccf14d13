"""The panel: default learners against competitors on small, large, sparse, heavy-tailed and generated tables.

Three steps that share nothing but files: `run` measures cells and appends them to a file of JSON lines, `collect`
makes tables of it, `plot` draws error against seconds. See README.md in this folder.
"""
