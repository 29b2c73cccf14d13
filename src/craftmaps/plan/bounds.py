"""The error bounds of the paper (section 3.4), as functions.

The paper's letters: r is the degree of the homogeneous kernel (x.y)^r on unit vectors, D and E are the
widths of the up- and down-projection, n is the number of points, eps the error. Functions have the paper's
constants where it gives them. Where it writes a rate they return the rate, which can be compared with another rate
but is no error itself. All bounds are far from tight: use `plan` for numbers.
"""

import math

_C = 0.766


def lemma_condition(degree: int, error: float) -> float:
    """Return the D from which Lemma 3.1 holds: 3 * 4^(r+2) / eps^2.

    Examples
    --------
    >>> lemma_condition(degree=2, error=0.5)
    3072.0
    """
    _check(degree=degree, error=error)
    return 3 * 4.0 ** (degree + 2) / error**2


def lemma_probability(up_components: int, degree: int, error: float) -> float:
    """Bound the probability that one estimate is off by eps or more (Lemma 3.1).

    With D Gaussian features of degree r >= 2, for D of at least `lemma_condition`:
    c^r exp(-(D eps^2 / 11)^(1/(2r+2)) / 2) with c = 0.766, as printed. (The proof rounds
    a moment down to an integer; the printed bound does not.) Below that D the lemma does not apply,
    and the bound is 1.
    """
    _check(up_components=up_components, degree=degree, error=error)
    if degree < 2:
        raise ValueError(f"degree must be at least 2 for Lemma 3.1, got {degree}.")
    if up_components < lemma_condition(degree, error):
        return 1.0
    return _C**degree * math.exp(-0.5 * (up_components * error**2 / 11) ** (1 / (2 * degree + 2)))


def corollary_components(n_points: int, degree: int, error: float) -> float:
    """Return the rate of D that makes all pairs of n points accurate to eps (Corollary 3.2).

    4^(r+1) log(n)^(2r+2) / eps^2, up to a constant that the paper does not give.
    """
    _check(n_points=n_points, degree=degree, error=error)
    return 4.0 ** (degree + 1) * math.log(n_points) ** (2 * degree + 2) / error**2


def corollary_error(up_components: int, n_points: int, degree: int) -> float:
    """Return the rate of the error for a given D: 2^(r+1) log(n)^(r+1) / sqrt(D)."""
    _check(up_components=up_components, n_points=n_points, degree=degree)
    return (2 * math.log(n_points)) ** (degree + 1) / math.sqrt(up_components)


def theorem_error(up_components: int, n_components: int, n_points: int, degree: int) -> float:
    """Return the rate of the error of a compact map (Theorem 3.3).

    2^(r+1) log(n)^(r+1) / sqrt(D) + sqrt(log(n) / E), for D >= E.
    """
    _check(n_components=n_components)
    if up_components < n_components:
        raise ValueError(f"up_components must be at least n_components={n_components}, got {up_components}.")
    return corollary_error(up_components, n_points, degree) + math.sqrt(math.log(n_points) / n_components)


def up_factor(n_points: int, degree: int) -> float:
    """Return g(r): from D = g(r) E on, the bound of a compact map is below that of a direct one.

    (log(n)^(r+1/2) / (log(n)^(r+1/2) - 2^-(r+1)))^2, which is close to 1.

    Examples
    --------
    >>> round(up_factor(n_points=1000, degree=7), 6)
    1.0
    """
    _check(n_points=n_points, degree=degree)
    power = math.log(n_points) ** (degree + 0.5)
    return (power / (power - 2.0 ** -(degree + 1))) ** 2


def _check(**values: float) -> None:
    """Refuse values for which no bound is defined."""
    lowest = {"degree": 1, "n_points": 2, "up_components": 1, "n_components": 1}
    for name, value in values.items():
        if name == "error":
            if not value > 0:
                raise ValueError(f"error must be more than 0, got {value}.")
        elif value < lowest[name]:
            raise ValueError(f"{name} must be at least {lowest[name]}, got {value}.")
