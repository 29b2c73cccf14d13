"""How loops are compiled: without the GIL, kept in a cache, and without counts of references.

Wherever an array is sliced, taken out of a tuple or handed on, Numba counts references to it with atomic
instructions. That costs as much as the arithmetic where rows are narrow, and threads that share an array wait for each
other. A loop owns nothing: whoever calls it from Python holds its arrays until it returns. Numba leaves the counts
out where `_nrt` is off, an option that it does not document; what needs memory of its own is then not compiled.

Numba's cache does not notice changes of this file: after one, remove the caches with `make clean`.
"""

from numba import njit

loop = njit(nogil=True, cache=True, _nrt=False)
# Called from Python: it may make room for something small, which has to be counted, and leaves a tile to a loop.
entry = njit(nogil=True, cache=True)
