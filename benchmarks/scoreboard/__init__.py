"""The scoreboard: errors, seconds, bytes and memory of this library and of its competitors at their best settings.

Three steps that share nothing but files: `run` measures cells and appends them to a file of JSON lines, `collect`
makes tables of it, `plot` draws fronts. `board.toml` says which cells there are. See README.md in this folder.
"""
