"""A slow predictor in NumPy, written from the description of the format alone: no code of the library is used."""

import base64
import math

import numpy as np


def array(plain):
    dtype = np.dtype(plain["type"]).newbyteorder("<")
    values = np.frombuffer(base64.b64decode(plain["data"]), dtype).astype(np.float64).reshape(plain["shape"])
    return values * np.reshape(plain["scale"], (*values.shape[:-1], 1)) if "scale" in plain else values


def words(seed, purpose, n):
    value = 0xCBF29CE484222325
    for byte in purpose.encode():
        value = ((value ^ byte) * 0x100000001B3) % 2**64
    return np.random.Philox(key=np.array([int(seed), value], np.uint64)).random_raw(n)


def signs(seed, purpose, n):
    raw = words(seed, purpose, -(-n // 64))
    return np.array([1 - 2 * (int(raw[i // 64]) >> (i % 64) & 1) for i in range(n)], float)


def permutation_list(seed, purpose, count, n):
    raw = words(seed, purpose, count * n).reshape(count, n)
    return [sorted(range(n), key=lambda i, r=row: (int(r[i]), i)) for row in raw]


def integers(seed, purpose, n, bound):
    return [(int(word) >> 32) * bound >> 32 for word in words(seed, purpose, n)]


def hadamard(n):
    return np.array([[(-1) ** (i & j).bit_count() for j in range(n)] for i in range(n)], float)


def shaped(step, x):
    kind = step["kind"]
    if kind == "columns":
        x = x if step["subtract"] is None else x - array(step["subtract"])
        return x if step["divide"] is None else x / array(step["divide"])
    if kind == "levels":
        indicators = [float(x[j] == level) for j, level in zip(step["columns"], array(step["levels"]), strict=True)]
        return np.array([x[j] for j in step["numbers"]] + indicators)
    if kind == "table":
        ends = np.cumsum(step["sizes"])[:-1]
        tables = zip(*(np.split(array(step[name]), ends) for name in ("knots", "scores")), strict=True)
        return np.array([np.interp(value, *table) for value, table in zip(x, tables, strict=True)])
    if kind == "axes":
        return array(step["axes"]) @ (x * 2.0 ** array(step["exponents"])) - step["offset"]
    if kind == "unit":
        length = np.linalg.norm(x / max(abs(x).max(), 1e-300)) * max(abs(x).max(), 1e-300)
        return x / length if length > 0 else x
    assert kind == "multiply"
    return x * step["factor"]


def product(factors):
    return complex(np.prod(factors))


def maclaurin(f, x):
    x, parts, order = x * f["scale"], f["parts"], f["order"]
    degrees = [n for n in range(len(f["counts"]) - 1, 0, -1) for _ in range(f["counts"][n])]
    size = order or max(1, len(degrees))
    groups = [degrees[i : i + size] for i in range(0, len(degrees), size)]
    columns = []
    n_factors = sum(group[0] for group in groups)
    if order is None:
        used = [sum(n > j for n in degrees) for j in range(degrees[0] if degrees else 0)]
        drawn = signs(f["seed"], "signs", sum(used) * parts * f["width"]).reshape(-1, parts, f["width"])
        starts = np.concatenate([[0], np.cumsum(used)]).astype(int)
        projected = drawn @ x
    else:
        rows = permutation_list(f["seed"], "rows", n_factors, order)
        n_blocks = max((group[0] for group in groups), default=0) if f["shared"] else n_factors
        drawn = signs(f["seed"], "signs", n_blocks * parts * order).reshape(n_blocks, parts, order)
        projected = drawn * np.pad(x, (0, order - x.size)) @ hadamard(order)
    factor = 0
    for group in groups:
        values = []
        for i, degree in enumerate(group):
            factors = []
            for j in range(degree):
                if order is None:
                    p = projected[starts[j] + i]
                else:
                    p = projected[(0 if f["shared"] else factor) + j][:, rows[factor + j][i]]
                factors.append(complex(p[0], p[1]) if parts == 2 else complex(p[0]))
            values.append(product(factors) * math.sqrt(f["weights"][degree] / parts**degree))
        columns += [v.real for v in values]
        columns += [v.imag for v in values] if parts == 2 else []
        factor += group[0]
    columns += f["counts"][0] * [math.sqrt(f["weights"][0])] + f["unused"] * [0.0]
    columns += (math.sqrt(f["coefficients"][1]) * x).tolist() if f["linear"] else []
    return np.array(columns + f["constant"] * [math.sqrt(f["coefficients"][0])])


def tensorsketch(f, x):
    degree, D, width = f["degree"], f["n_columns"], f["width"] + 1
    x = np.append(x * f["scale"], f["constant"])
    buckets = np.reshape(integers(f["seed"], "buckets", degree * width, D), (degree, width))
    drawn = signs(f["seed"], "signs", degree * width).reshape(degree, width)
    z = np.eye(1, D)[0]
    for j in range(degree):
        sketch = np.zeros(D)
        np.add.at(sketch, buckets[j], drawn[j] * x)
        z = np.array([sum(z[p] * sketch[(q - p) % D] for p in range(D)) for q in range(D)])
    return z


def landmarks(f, x):
    kernel, t = f["kernel"], array(f["landmarks"]) @ x
    if kernel["kind"] == "polynomial":
        return (kernel["gamma"] * t + kernel["coef0"]) ** kernel["degree"]
    if kernel["kind"] == "exponential":
        return np.exp(kernel["gamma"] * t)
    return sum(a * t**n for n, a in enumerate(kernel["coefficients"]))


def projected(down, z):
    """Return the sums that a head is for, and the features that a map alone gives."""
    kept = z[z.size - down["kept"] :] if down["kept"] else z[:0]
    if down["kind"] == "matrix":
        features = z[: z.size - down["kept"]] @ array(down["matrix"])
        return None, np.concatenate([features, kept])
    width, chunk = down["width"], down["chunk"]
    z = z[:width] * signs(down["seed"], "signs", width)
    residues = sorted(permutation_list(down["seed"], "residues", 1, chunk)[0][: down["n_components"]])
    if down["kind"] == "folded":
        shifts = integers(down["seed"], "shifts", -(-width // chunk), chunk)
        sums = np.zeros(chunk)
        for c in range(width):
            sums[c % chunk ^ shifts[c // chunk]] += z[c]
        features = (hadamard(chunk) @ sums)[residues]
        sums = np.concatenate([sums, kept])
    else:
        order, sums = down["order"], None
        places = permutation_list(down["seed"], "positions", 1, order)[0] if down["shuffled"] else range(order)
        quotients = integers(down["seed"], "quotients", len(residues), order // chunk)
        wide = np.zeros(order)
        wide[list(places[:width])] = z
        whole = hadamard(order) @ wide
        features = np.array([whole[q * chunk + r] for q, r in zip(quotients, residues, strict=True)])
    return sums, np.concatenate([features / math.sqrt(down["n_components"]), kept])


def outputs(plain, row):
    """Return corrected scores, numbers or features of a row."""
    x = np.asarray(row, np.float64)
    rows = [x]
    for step in plain["steps"]:
        x = shaped(step, x)
        rows.append(x)
    f = plain["features"]
    z = {"rows": lambda f, x: x, "maclaurin": maclaurin, "tensorsketch": tensorsketch, "landmarks": landmarks}[
        f["kind"]
    ](f, x)
    assert z.size == f["n_columns"]
    features = z
    if plain["down"] is not None:
        z, features = projected(plain["down"], z)
    if plain["head"] is None:
        return features
    result = array(plain["head"]["weights"]) @ z + plain["head"]["bias"]
    linear = plain.get("linear")
    if linear:
        result += array(linear["weights"]) @ rows[linear["n_steps"]]
    decoding = plain["classes"] and plain["classes"]["decoding"]
    if decoding:
        code = array(decoding["words"])
        bits = result @ code
        if decoding["kind"] == "hamming":
            result = (np.sign(bits) @ code.T / code.shape[1] - 1) / 2
        else:
            result = -np.maximum(1 - bits * code, 0).sum(axis=1) / code.shape[1]
        if decoding["matrix"] is not None:
            result = result @ array(decoding["matrix"]) + array(decoding["offset"])
    return result


def probabilities(plain, scores):
    powers = np.exp(plain["classes"]["factor"] * (scores - scores.max()))
    return powers / powers.sum()
