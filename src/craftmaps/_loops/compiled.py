"""How loops are compiled: without the GIL, kept in a cache, and without counts of references.

Wherever an array is sliced, taken out of a tuple or handed on, Numba counts references to it with atomic
instructions. That cost more than the arithmetic where rows are narrow, and threads that share an array wait for each
other. A loop owns nothing: whoever calls it from Python holds its arrays until it returns.

Numba's cache does not notice changes of this file: after one, remove the caches with `make clean`.
"""

from numba import njit

loop = njit(nogil=True, cache=True, _nrt=False)
# Called from Python: it may make room for something small, for which references are counted, and has no inner loop.
entry = njit(nogil=True, cache=True)
