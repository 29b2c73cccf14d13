"""A hostile header ends in one sentence that names the file: no crash, no gigabytes, no long wait."""

import json
import re

import numpy as np
import pytest
from scipy.sparse import csr_matrix

from craftmaps import (
    CraftClassifier,
    CraftRegressor,
    Exponential,
    MaclaurinSeries,
    Polynomial,
    SubsampledHadamard,
    load_model,
)
from craftmaps.learners.persistence.container import ModelFileError, read, write
from tests.faults.fuzzing.bases import MODELS, SPARSE, X, Y, blocks, learner
from tests.faults.fuzzing.containers import Container

COMMON = {"n_components": 32, "alphas": [1e-2], "cv": None, "random_state": 0, "metric": None}


def saved(path, name):
    parameters, rows, y = MODELS[name]
    learner(parameters, y).fit(rows, y).save(path)
    return read(path)


@pytest.fixture(scope="module")
def headers(tmp_path_factory):
    """Headers of good models, by name, each made once."""
    made = {}

    def header(name):
        path = tmp_path_factory.mktemp("good") / "model.craft"
        if name not in made:
            saved(path, name)
            made[name] = path
        return read(made[name])

    return header


def shares(header):
    return header["lift"]["feature_map"]["up"]["shares"]


def refusal(path, header):
    """Return the one sentence in which a header is refused."""
    write(path, header)
    with pytest.raises(ModelFileError) as refused:
        load_model(path)
    words = str(refused.value)
    assert words.startswith(f"{path} ")
    assert "\n" not in words
    assert words.endswith(".")
    return words


def widen_up(header, width):
    feature_map = header["lift"]["feature_map"]
    feature_map["parameters"]["up_components"] = feature_map["up"]["parameters"]["n_components"] = width


def all_random(header):
    """Let a map have no exact columns."""
    columns = header["lift"]["feature_map"]["shares"]
    columns["n_unused"] += columns["n_linear"]
    columns["n_linear"] = 0


def raise_degree(header, degree):
    header["lift"]["feature_map"]["parameters"]["kernel"]["parameters"]["degree"] = degree


def every_width(header, width):
    """Let a map and its learner agree on another width of the rows."""
    feature_map = header["lift"]["feature_map"]
    header["n_features"] = feature_map["n_features_in_"] = width
    if "up" in feature_map:
        feature_map["up"]["n_features_in_"] = width
        shares(header)["order"] = 1 << (width - 1).bit_length()


def in_kernel(header, **parameters):
    """Change parameters of the kernel of a map."""
    header["lift"]["feature_map"]["parameters"]["kernel"]["parameters"].update(parameters)


CRAFT = {
    "more features of a degree": (lambda h: shares(h)["counts"].__setitem__(2, 5000), "add up to"),
    "fewer features of a degree": (lambda h: shares(h)["counts"].__setitem__(2, 0), "add up to"),
    "a negative count": (lambda h: shares(h)["counts"].__setitem__(2, -1), "counts must be"),
    "a count that is no number": (lambda h: shares(h)["counts"].__setitem__(2, "3"), "counts must be"),
    "a count of half a feature": (lambda h: shares(h)["counts"].__setitem__(2, 3.5), "counts must be"),
    "a degree more": (lambda h: shares(h)["counts"].append(0), "counts of 5 degrees, but 4 coefficients"),
    "a degree fewer": (
        lambda h: [shares(h)[n].pop() for n in ("counts", "coefficients", "weights")],
        "the kernel has 4",
    ),
    "linear columns": (lambda h: shares(h).update(n_linear=5), "n_linear must be 0 or the 6 columns"),
    "constant columns": (lambda h: shares(h).update(n_constant=7), "n_constant must be a whole number from 0 to 1"),
    "unused columns": (lambda h: shares(h).update(n_unused=100), "add up to"),
    "fewer than no unused columns": (lambda h: shares(h).update(n_unused=-4), "n_unused must be"),
    "block order": (lambda h: shares(h).update(order=4), "order 4"),
    "no block order": (lambda h: shares(h).update(order=None), "order None"),
    "block order zero": (lambda h: shares(h).update(order=0), "order must be"),
    "real weights": (lambda h: shares(h).update(complex_weights=False), "complex_weights=False"),
    "weights that are infinite": (lambda h: shares(h)["weights"].__setitem__(0, float("inf")), "finite numbers"),
    "kept columns": (lambda h: h["lift"]["feature_map"].update(n_kept_=5), "n_kept_ must be"),
    "all columns kept": (lambda h: h["lift"]["feature_map"].update(n_kept_=2**31), "n_kept_ must be"),
    "a wider up-map": (lambda h: widen_up(h, 2**20), "add up to"),
    "an absurd up-map": (lambda h: widen_up(h, 2**40), "n_components must be|up_components must be"),
    "width of the up-map alone": (
        lambda h: h["lift"]["feature_map"]["up"].update(n_features_in_=7),
        "n_features_in_ must be a whole number from 6 to 6|order",
    ),
    "a learner wider than its map": (lambda h: h.update(n_features=7), "is for rows of 6 numbers, but gets rows of 7"),
    "a learner wider than memory": (lambda h: h.update(n_features=2**50), "gets rows of"),
    "a huge degree": (
        lambda h: h["lift"]["feature_map"]["parameters"]["kernel"]["parameters"].update(degree=10**9),
        "degree must be",
    ),
    "a scale of nothing": (lambda h: h["lift"]["feature_map"]["up"]["learned"].update(scale_=0.0), "scale_ must be"),
    "another attribute": (lambda h: h["lift"]["feature_map"]["learned"].update(transform=1), "unknown value"),
    "weights of another width": (lambda h: h.update(weights=h["weights"][:, 1:]), "weights for 31"),
    "weights of integers": (lambda h: h.update(weights=h["weights"].astype(np.int64)), "weights must be an array"),
    "weights that are no numbers": (lambda h: h.update(weights=h["weights"] * np.nan), "finite"),
    "a class without weights": (lambda h: h["classes"]["values"].append("z"), "weights for 3 classes, but 4 labels"),
    "classes out of order": (lambda h: h["classes"]["values"].reverse(), "sorted"),
    "labels of a gigabyte each": (lambda h: h["classes"].update(dtype="<U999999999"), "dtype must be"),
    "labels of many letters": (
        lambda h: h["classes"].update(dtype="<U5000", values=["a", "b", "c" * 5000]),
        "at most 4096 letters",
    ),
    "a missing intercept": (lambda h: h.update(intercept=h["intercept"][:1]), "intercept must be an array of 3"),
    "code bits": (lambda h: h.update(code="random", code_size=2**40), "A code of"),
    "code bits of nothing": (lambda h: h.update(code="random", code_size=0), "code_size must be"),
    "a code that takes hours": (lambda h: h.update(code="hadamard", code_size=2**24), "A code of"),
    "a ragged code": (lambda h: h.update(code=[[1, -1], [1], [-1, 1]]), "code must be"),
    "decoding": (lambda h: h.update(decoding="eval"), "decoding must be"),
    "names of other columns": (lambda h: h.update(feature_names=["a"]), "feature_names must be a list of 6"),
    "a calibration by nothing": (lambda h: h["calibration"].update(factor=0.0), "factor must be"),
    "a seed of text": (lambda h: h.update(seed="0"), "seed must be"),
    "truth for a number": (lambda h: h.update(n_rows=True), "n_rows must be"),
}


@pytest.mark.parametrize("name", CRAFT)
def test_a_craft_map_that_contradicts_itself(tmp_path, headers, name):
    change, words = CRAFT[name]
    header = headers("craft")
    change(header)
    assert re.search(words, refusal(tmp_path / "model.craft", header))


PARTS = {
    "products of other columns": (
        "exact quadratic columns",
        lambda h: shares(h).update(n_quadratic=20),
        "n_quadratic must be 0 or the 21 products",
    ),
    "fewer than no products": (
        "exact quadratic columns",
        lambda h: shares(h).update(n_quadratic=-21),
        "n_quadratic must be a whole number",
    ),
    "products forgotten": ("exact quadratic columns", lambda h: shares(h).pop("n_quadratic"), "add up to"),
    "some products kept": (
        "exact quadratic columns",
        lambda h: h["lift"]["feature_map"].update(n_kept_=27),
        "n_kept_ must be one of 0, 1, 7, 28",
    ),
    "a width by another name": (
        "exact quadratic columns",
        lambda h: h["lift"]["feature_map"]["parameters"].update(up_components="wide"),
        "up_components must be a whole number",
    ),
    "a way down after all": (
        "no way down",
        lambda h: h["lift"]["feature_map"].update(n_kept_=0),
        "n_kept_ must be a whole number from 16 to 16",
    ),
    "no way down without a choice": (
        "no way down",
        lambda h: h["lift"]["feature_map"]["parameters"].update(up_components=None),
        "has 16 columns, expected 128",
    ),
    "depth of a million": ("neural tangent", lambda h: in_kernel(h, depth=10**6), "depth must be a whole number"),
    "degree of a kernel": ("neural tangent", lambda h: in_kernel(h, max_degree=0), "max_degree must be a whole number"),
    "unknown parameter of a kernel": ("neural tangent", lambda h: in_kernel(h, gamma=1.0), "unknown value"),
    "more degrees than the kernel": ("neural tangent", lambda h: in_kernel(h, max_degree=9), "the kernel has 10"),
    "landmarks off the sphere": (
        "landmarks on a sphere",
        lambda h: h["lift"]["feature_map"]["learned"].update(
            landmarks_=2 * h["lift"]["feature_map"]["learned"]["landmarks_"]
        ),
        "rows of unit length",
    ),
    "sketch of a huge degree": (
        "tensorsketch",
        lambda h: (
            h["lift"]["feature_map"]["parameters"]["kernel"]["parameters"].update(degree=900),
            every_width(h, 2**20),
        ),
        "Buckets would take",
    ),
    "sketch of huge rows": ("tensorsketch", lambda h: every_width(h, 2**27), "Buckets would take"),
    "map of another kernel": (
        "tensorsketch",
        lambda h: h["lift"]["feature_map"]["parameters"].update(
            kernel={"class": "Exponential", "parameters": {"gamma": 1.0}}
        ),
        "kernel must be a Polynomial for TensorSketch",
    ),
    "landmarks of another width": (
        "landmarks",
        lambda h: h["lift"]["feature_map"]["learned"].update(landmarks_=np.ones((16, 7))),
        "landmarks_ must be an array",
    ),
    "landmarks twice": (
        "landmarks",
        lambda h: h["lift"]["feature_map"]["learned"].update(landmarks_=np.ones((16, 6))),
        "different rows",
    ),
    "landmarks whose kernel overflows": (
        "landmarks",
        lambda h: h["lift"]["feature_map"]["learned"].update(landmarks_=1e200 * np.eye(16, 6)),
        "finite",
    ),
    "a matrix of too many landmarks": (
        "landmarks",
        lambda h: (
            h["lift"]["feature_map"]["learned"].update(landmarks_=np.zeros((20_000, 6), np.float32)),
            h["lift"]["feature_map"]["parameters"].update(n_components=20_000),
        ),
        "would take",
    ),
    "columns of sparse landmarks": (
        "sparse landmarks",
        lambda h: h["lift"]["feature_map"]["learned"]["landmarks_"]["indices"].__setitem__(0, 10**6),
        "indices must be from 0 to 5",
    ),
    "rows of sparse landmarks": (
        "sparse landmarks",
        lambda h: h["lift"]["feature_map"]["learned"]["landmarks_"]["indptr"].__setitem__(1, 10**6),
        "indptr must rise",
    ),
    "axes of another width": (
        "covariance, exponential",
        lambda h: h["lift"]["metric"]["learned"].update(components_=np.ones((6, 5))),
        "components_ must be an array",
    ),
    "fewer axes than the map takes": (
        "covariance, exponential",
        lambda h: h["lift"]["metric"]["learned"].update(
            components_=h["lift"]["metric"]["learned"]["components_"][:1],
            eigenvalues_=h["lift"]["metric"]["learned"]["eigenvalues_"][:1],
        ),
        "axes|gets rows of 1",
    ),
    "scales of nothing": (
        "standardised",
        lambda h: h["lift"]["metric"]["learned"].update(scale_=np.zeros(6)),
        "above zero",
    ),
    "no scales": ("standardised", lambda h: h["lift"]["metric"]["learned"].update(scale_=None), "scale_ must be"),
    "independent signs for huge rows": (
        "independent signs",
        lambda h: (all_random(h), every_width(h, 2**26)),
        "would take",
    ),
    "a long permutation": ("projected", lambda h: every_width(h, 2**26), "A permutation would take"),
    "one target for two": ("maclaurin", lambda h: h.update(is_flat=True), "weights for 2 targets"),
}


@pytest.mark.parametrize("name", PARTS)
def test_other_parts_that_contradict_themselves(tmp_path, headers, name):
    base, change, words = PARTS[name]
    header = headers(base)
    change(header)
    assert re.search(words, refusal(tmp_path / "model.craft", header))


@pytest.mark.parametrize(
    "text",
    [
        "[" * 200_000,
        '{"version": 2, "model": ' + '{"a":' * 500 + "1" + "}" * 501,
        '{"version": 2, "version": 2}',
        '{"version": 1e999}',
        '{"version": ' + "9" * 10_000 + "}",
        "[]",
        "5",
    ],
    ids=["brackets", "objects", "a name twice", "infinite version", "many digits", "list", "number"],
)
def test_odd_json(tmp_path, text):
    path = tmp_path / "model.craft"
    path.write_bytes(Container(text, None, {}).pack())
    with pytest.raises(ModelFileError, match=r"model\.craft has a damaged header"):
        load_model(path)


def test_deep_notes_are_refused(tmp_path, headers):
    header = headers("craft")
    header["notes"] = {"json": "[" * 100_000}
    assert "notes must be JSON" in refusal(tmp_path / "model.craft", header)


def test_wide_models_are_still_read(tmp_path):
    """Limits leave room for what the library is used for: a million sparse columns, many classes, high degrees."""
    rng = np.random.default_rng(0)
    wide = csr_matrix((rng.normal(size=400), (np.arange(400) % 40, rng.integers(0, 2**20, 400))), shape=(40, 2**20))
    many = CraftClassifier(Polynomial(2), 16, feature_map=SubsampledHadamard(16), metric=None, alphas=1e-2, cv=None)
    cases = {
        "sparse": (CraftClassifier(Polynomial(3), feature_map="tensorsketch", **COMMON), wide, Y[:40]),
        "degree": (CraftRegressor(Polynomial(64), **COMMON), X, X[:, 0]),
        "exponential": (CraftRegressor(Exponential(20.0), up_components=2**14, **COMMON), X, X[:, 0]),
        "classes": (many, rng.normal(size=(3000, 4)), np.arange(3000) % 1500),
    }
    for name, (model, rows, y) in cases.items():
        model.fit(rows, y).save(tmp_path / name, dtype=np.float64)
        np.testing.assert_array_equal(load_model(tmp_path / name).predict(rows[:9]), model.predict(rows[:9]))


def test_what_no_file_can_hold_is_not_written(tmp_path):
    """Blocks of two columns and a degree of 1000: many groups of features, and a count of each degree for each."""
    coefficients = np.zeros(1001)
    coefficients[[1, 2, -1]] = 1.0, 0.5, 1e-120
    model = CraftRegressor(MaclaurinSeries(coefficients), up_components=33_600, normalize=True, **COMMON)
    model.fit(X[:, :2].astype(np.float64), X[:, 0])
    with pytest.raises(ValueError, match=r"This model cannot be saved: A table of degrees would take .* more than"):
        model.save(tmp_path / "model.craft")
    assert not list(tmp_path.iterdir())


def test_text_takes_no_more_room_than_it_has_to(tmp_path, headers):
    header = headers("craft")
    header["classes"]["dtype"] = "<U9999999"
    write(tmp_path / "model.craft", header)
    assert load_model(tmp_path / "model.craft").predict(X).dtype == np.dtype("<U256")


def test_labels_that_could_not_be_read_again_are_not_written(tmp_path):
    labels = np.where(X[:, 0] > 0, "a" * 5000, "b")
    model = CraftClassifier(Polynomial(2), **COMMON).fit(X, labels)
    with pytest.raises(ValueError, match="Labels must have at most 4096 letters to be saved, got 5000"):
        model.save(tmp_path / "model.craft")


def interrupted(path, parameters, rows, y):
    def some():
        yield from blocks(rows, y)[:2]
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        learner(parameters, y).fit_stream(some(), checkpoint=path, every=40)


def statistic(header):
    return header["tally"]["statistic"]


def held_out(header):
    return header["tally"]["held_out"]


CHECKPOINT = {
    "fewer features than weights": (
        lambda h: statistic(h).update(feature_sums=np.zeros(3)),
        "feature_sums must be",
    ),
    "a smaller square": (
        lambda h: statistic(h).update(gram={"square": np.eye(7)}),
        "gram.square must be",
    ),
    "a statistic that is no number": (
        lambda h: statistic(h)["gram"]["triangle"].__setitem__(0, np.nan),
        "finite",
    ),
    "more rows than were counted": (lambda h: h.update(n_rows=81), "n_rows must be the 80 rows"),
    "labels of no class": (
        lambda h: held_out(h)["sample"]["y"].__setitem__(0, 99),
        "labels must be from 0 to 2",
    ),
    "negative labels": (
        lambda h: held_out(h)["sample"]["y"].__setitem__(0, -4),
        "labels must be from 0 to 2",
    ),
    "hashes out of order": (
        lambda h: held_out(h)["sample"]["hashes"].__setitem__(0, 2**63),
        "must be in order",
    ),
    "weights below zero": (
        lambda h: held_out(h)["sample"]["weight"].__setitem__(0, -1.0),
        "must be above zero",
    ),
    "fewer weights": (lambda h: held_out(h)["sample"].update(weight=np.ones(3)), "weight must be an array"),
    "rows of another width": (
        lambda h: held_out(h)["sample"].update(X=np.ones((80, 7))),
        "X must be an array",
    ),
    "another size of the sample": (lambda h: held_out(h).update(size=10), "at most 10 rows"),
    "no map": (lambda h: h["tally"].update(lift=None), "lift must be an object"),
    "another map": (lambda h: shares(h["tally"]).update(n_unused=9), "add up to"),
    "a position of text": (lambda h: h.update(position="2"), "position must be"),
    "parameters that are a list": (lambda h: h.update(parameters=[]), "parameters must be an object"),
}


@pytest.mark.parametrize("name", CHECKPOINT)
def test_a_checkpoint_that_contradicts_itself(tmp_path, name):
    path, parameters = tmp_path / "run.checkpoint", {"kernel": Polynomial(3)}
    change, words = CHECKPOINT[name]
    interrupted(path, parameters, X, Y)
    header = read(path)
    change(header)
    write(path, header)
    with pytest.raises(ModelFileError, match=rf"run\.checkpoint has a damaged header: .*{words}"):
        learner(parameters, Y).fit_stream(blocks(X, Y), checkpoint=path)


def test_sparse_rows_that_wait_are_checked(tmp_path):
    path, parameters = tmp_path / "run.checkpoint", {"kernel": Polynomial(3), "feature_map": "landmarks"}
    interrupted(path, parameters, SPARSE, Y)
    header = read(path)
    header["waiting"]["1"]["X"]["indices"][3] = 10**6
    write(path, header)
    with pytest.raises(ModelFileError, match=r"waiting\.1\.X\.indices must be from 0 to 5"):
        learner(parameters, Y).fit_stream(blocks(SPARSE, Y), checkpoint=path)


@pytest.mark.parametrize(
    "content", [b"[1, 2]", b"5", b"null", b"[" * 200_000, b"\xff\xfe{", b'{"batch_rows": {"a": [1]}}']
)
def test_notes_of_a_run(tmp_path, content):
    from craftmaps.cli.learning import CheckpointFolder

    (tmp_path / "run.checkpoint").write_bytes(b"")
    (tmp_path / "run.json").write_bytes(content)
    with pytest.raises(ValueError, match=r"run\.(json|checkpoint) is .*\.$") as refused:
        CheckpointFolder(tmp_path, {"batch_rows": 100}, is_resumed=True)
    assert "\n" not in str(refused.value)


def test_long_notes_of_a_run_are_not_printed(tmp_path):
    from craftmaps.cli.learning import CheckpointFolder

    (tmp_path / "run.checkpoint").write_bytes(b"")
    (tmp_path / "run.json").write_text(json.dumps({"batch_rows": "\n" * 1000}))
    with pytest.raises(ValueError, match=r"other batch rows, something else before and 100 now\.$"):
        CheckpointFolder(tmp_path, {"batch_rows": 100}, is_resumed=True)
