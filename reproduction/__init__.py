"""Every table and figure of the paper that has data in it, beside the paper's own numbers.

Three steps that know of each other only through files: an experiment (`figure2` ... `table1`) measures
cells and appends them to `results/`, `drawing` makes figures of them, `page` writes `README.md`.
"""
