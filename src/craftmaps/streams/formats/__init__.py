"""How rows are stored: one module for each format, and the readers that turn formats into pieces of rows.

Tables of named columns (`*_table.py`) have a schema and batches of Arrow rows; `table_reader.py` reads them. Files of
arrays (`*_arrays.py`) give a `StoredArray`; `matrix_reader.py` reads them. `sparse_reader.py` reads svmlight.
"""
