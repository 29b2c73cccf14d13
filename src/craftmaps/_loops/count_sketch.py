"""Count sketches of dense and CSR rows."""

from craftmaps._loops.compiled import loop


@loop
def sketch_dense(X, buckets, signs, out):
    """Write to each row of `out` the count sketch of a row of X with a 1 appended."""
    width = X.shape[1]
    out[:] = 0
    for row in range(X.shape[0]):
        for k in range(width):
            out[row, buckets[k]] += signs[k] * X[row, k]
        out[row, buckets[width]] += signs[width]


@loop
def sketch_csr(data, indices, indptr, buckets, signs, out):
    """Do as `sketch_dense` does for the rows of a CSR matrix."""
    width = buckets.size - 1
    out[:] = 0
    for row in range(indptr.size - 1):
        for e in range(indptr[row], indptr[row + 1]):
            out[row, buckets[indices[e]]] += signs[indices[e]] * data[e]
        out[row, buckets[width]] += signs[width]
