"""Error-correcting output codes: labels as code words, and back.

A code is a matrix of +1 and -1 with one row, a code word, for each class. Targets of a label are
its code word, so least squares for all bits needs only the sums over each label: codes stay
out of the statistic and are applied when solving.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from craftmaps._rows.randomness import child_seed, permutations, signs
from craftmaps._system.fields import DamagedError, Fields, refuse_costly

CODES = ("one-vs-rest", "random", "hadamard")
DECODINGS = ("euclidean", "hamming", "loss")
_DRAWS = 32
_USUAL_BITS = 200
# Products of bits that drawing a code may take: a few seconds.
_MOST_WORK = 2**37


@dataclass(frozen=True, eq=False)
class OutputCode:
    """Which code classes get, and how outputs are decoded.

    Parameters
    ----------
    code : {"one-vs-rest", "random", "hadamard"} or array of shape (n_classes, n_bits)
    size : int or None
        Number of bits of a random or Hadamard code.
    decoding : {"euclidean", "hamming", "loss"}
    seed : int
    """

    code: str | ArrayLike
    size: int | None
    decoding: str
    seed: int

    def words(self, n_classes: int) -> NDArray[np.float64]:
        """Return the code words; a single bit is enough to tell one of two classes from the rest."""
        if isinstance(self.code, str) and self.code == "one-vs-rest" and n_classes == 2:
            return np.array([[-1.0], [1.0]])
        return make_code(self.code, n_classes, self.size, self.seed)

    def scores(self, outputs: NDArray, words: NDArray[np.float64]) -> NDArray:
        """Return a score for every class from outputs for the bits."""
        return class_scores(outputs, words, self.decoding)

    def check_classes(self, n_classes: int) -> None:
        """Refuse a number of classes that a given code is not for."""
        if not isinstance(self.code, str) and np.shape(self.code)[0] != n_classes:
            raise ValueError(f"code must have a row for each of {n_classes} classes, got {np.shape(self.code)[0]}.")


def make_code(code: str | ArrayLike, n_classes: int, size: int | None, seed: int) -> NDArray[np.float64]:
    """Return the code words of n_classes classes as the rows of a matrix of +-1.

    Parameters
    ----------
    code : {"one-vs-rest", "random", "hadamard"} or array of shape (n_classes, n_bits)
        A random code is the best of several draws by the smallest distance of two words.
    n_classes : int
    size : int or None
        Number of bits of a random or Hadamard code. None means the paper's 200 for a random
        code, and the smallest possible for a Hadamard code.
    seed : int
    """
    if not isinstance(code, str):
        return _given(code, n_classes)
    if code == "one-vs-rest":
        return 2 * np.eye(n_classes) - 1
    if code == "hadamard":
        return _hadamard(n_classes, size, seed)
    if code == "random":
        return _random(n_classes, _USUAL_BITS if size is None else size, seed)
    raise ValueError(f"code must be one of {', '.join(map(repr, CODES))} or an array, got {code!r}.")


def smallest_distance(words: NDArray[np.float64]) -> int:
    """Return the smallest number of bits in which two code words differ."""
    if words.shape[0] < 2:
        return words.shape[1]
    agreement = words @ words.T
    np.fill_diagonal(agreement, -np.inf)
    return int((words.shape[1] - agreement.max()) // 2)


def class_scores(outputs: NDArray, words: NDArray[np.float64], decoding: str) -> NDArray:
    """Return a score for every class, the larger the closer its word is to the outputs.

    Euclidean: minus the squared distance, up to what all classes share. Hamming: minus the
    share of wrong signs. Loss: minus the mean of the hinge losses of the bits.
    """
    words = words.astype(outputs.dtype)
    if decoding == "euclidean":
        # |o - c|^2 = |o|^2 - 2 o.c + bits, and words of +-1 all have the same length.
        return outputs @ words.T / words.shape[1]
    if decoding == "hamming":
        return (np.sign(outputs) @ words.T / words.shape[1] - 1) / 2
    if decoding == "loss":
        scores = [-np.maximum(1 - outputs * word, 0).sum(axis=1) for word in words]
        return np.stack(scores, axis=1) / words.shape[1]
    raise ValueError(f"decoding must be one of {', '.join(map(repr, DECODINGS))}, got {decoding!r}.")


def check_code(code: str | ArrayLike) -> None:
    """Refuse what is no code for any number of classes."""
    if isinstance(code, str):
        if code not in CODES:
            raise ValueError(f"code must be one of {', '.join(map(repr, CODES))} or an array, got {code!r}.")
        return
    words = np.asarray(code, dtype=np.float64)
    if words.ndim != 2:
        raise ValueError(f"code must have a row for each class, got shape {words.shape}.")
    if not np.isin(words, (-1.0, 1.0)).all():
        raise ValueError(f"code must consist of +1 and -1, got {np.unique(words)[:5]}.")


def code_from_plain(fields: Fields, n_classes: int, weights: NDArray) -> tuple[str | NDArray[np.float64], int | None]:
    """Take a code and its size from a file; weights, a row for each class, bound how large it may be."""
    size = None if fields.value("code_size") is None else fields.whole("code_size", 1)
    code = fields.value("code")
    if not isinstance(code, list):
        fields.one_of("code", CODES)
        refuse_costly_code(code, n_classes, size, weights)
        return code, size
    n_bits = len(code[0]) if code and isinstance(code[0], list) else 0
    is_matrix = n_bits > 0 and all(isinstance(word, list) and len(word) == n_bits for word in code)
    if len(code) != n_classes or not is_matrix or not all(type(bit) in (int, float) for word in code for bit in word):
        raise fields.refuse("code", f"a list of words of +1 and -1 for {n_classes} classes")
    refuse_costly_code("given", n_classes, n_bits, weights)
    try:
        return _given(code, n_classes), size
    except ValueError as error:
        raise DamagedError(str(error).rstrip(".")) from None


def refuse_costly_code(code: str, n_classes: int, size: int | None, weights: NDArray) -> None:
    """Refuse a code that a file may not ask for: too large, or too much work to draw."""
    n_bits = n_classes if code == "one-vs-rest" else size or (_USUAL_BITS if code == "random" else 2 * n_classes)
    if n_bits < 64 and 2**n_bits < n_classes:
        raise DamagedError(f"code_size must be at least log2 of the {n_classes} classes, got {n_bits}")
    n_columns = 2 * n_bits if code == "hadamard" else n_bits
    n_bytes = 8 * (n_classes * max(n_columns, n_classes) + n_bits * weights.shape[1])
    refuse_costly(f"A code of {n_bits} bits for {n_classes} classes", n_bytes, weights.nbytes)
    collides = n_bits < 64 and n_classes**2 > 2**n_bits
    work = n_classes * n_bits * (_DRAWS * 2**15 if collides else _DRAWS * n_classes)
    is_drawn = code == "random" or (code == "hadamard" and size is not None)
    if is_drawn and work > _MOST_WORK:
        raise DamagedError(f"A {code} code of {n_bits} bits for {n_classes} classes takes too long to draw")


def _given(code: ArrayLike, n_classes: int) -> NDArray[np.float64]:
    """Check a code that the user gives."""
    words = np.asarray(code, dtype=np.float64)
    if words.ndim != 2 or words.shape[0] != n_classes:
        raise ValueError(f"code must have a row for each of {n_classes} classes, got shape {words.shape}.")
    check_code(words)
    if smallest_distance(words) == 0:
        raise ValueError("code must have a different word for every class.")
    return words


def _random(n_classes: int, size: int, seed: int) -> NDArray[np.float64]:
    """Draw codes until they have no collision, and take the one whose words differ most."""
    if 2**size < n_classes:
        raise ValueError(f"code_size must be at least log2 of the {n_classes} classes, got {size}.")
    if n_classes**2 > 64 * 2**size:
        return _counting(n_classes, size)  # two of so many short words are alike in every draw
    best, best_distance = None, 0
    draw = 0
    while best is None or draw < _DRAWS:
        words = signs(child_seed(seed, f"code {draw}"), "code", (n_classes, size)).astype(np.float64)
        distance = smallest_distance(words) if _are_different(words) else 0
        if distance > best_distance:
            best, best_distance = words, distance
        draw += 1
        if draw >= 64 * _DRAWS and best is None:
            return _counting(n_classes, size)
    return best


def _are_different(words: NDArray[np.float64]) -> bool:
    """Tell whether no two words are equal, without comparing them all with each other."""
    bits = np.ascontiguousarray(np.packbits(words > 0, axis=1))
    return np.unique(bits.view(f"V{bits.shape[1]}")).size == len(words)


def _counting(n_classes: int, size: int) -> NDArray[np.float64]:
    """Give class i the bits of i: for so few bits that random words keep colliding."""
    bits = (np.arange(n_classes)[:, None] >> np.minimum(np.arange(size), 62)) & 1
    return np.asarray(1.0 - 2.0 * bits, dtype=np.float64)


def _hadamard(n_classes: int, size: int | None, seed: int) -> NDArray[np.float64]:
    """Take the rows of a Hadamard matrix, without its constant column, as words."""
    order = 1 << max(1, (n_classes - 1).bit_length())
    if size is not None:
        order = max(order, 1 << size.bit_length())
    row = np.arange(n_classes)[:, None] & np.arange(1, order)[None, :]
    words = np.asarray(1.0 - 2.0 * (np.bitwise_count(row) & 1), dtype=np.float64)
    if size is None:
        return words
    for draw in range(64 * _DRAWS):
        bits = permutations(child_seed(seed, f"code {draw}"), "bits", 1, words.shape[1])[0, :size]
        chosen = words[:, np.sort(bits)]
        if _are_different(chosen):
            return chosen
    raise ValueError(f"code_size must be larger to tell {n_classes} classes apart, got {size}.")
