"""The only compiled code: serial, `nogil` Numba loops over NumPy arrays.

They are called loops because "kernel" means k(x, y) in this library. A loop draws no
randomness, allocates no result, counts no references (see `compiled`) and calls only loops of its own file, because
Numba's cache does not notice a changed callee in another one. (The vector instructions in `vectors` are the
exception, and say so.)
"""

# Loops prefetch factors so many features ahead; a draw is padded as far. It stands here, where Numba is not imported.
LOOK_AHEAD = 8
