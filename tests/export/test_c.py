"""C headers predict as models do: compiled without a warning, and run under sanitizers."""

import subprocess

import numpy as np
import pytest

from craftmaps import CraftClassifier, CraftMap, Polynomial, datasets, export
from craftmaps.export.c_source import header_text
from craftmaps.export.recipe import recipe_of
from tests.export import models
from tests.export.compiled_c import COMPILER, SANITIZED, STRICT, build, predict
from tests.export.test_recipe import expected_scores

pytestmark = pytest.mark.skipif(COMPILER is None, reason="there is no C compiler")


def compared(name, tmp_path, weights):
    model, X = models.fitted(name), models.rows_of(name, models.unseen_rows()).astype(np.float32)
    recipe = recipe_of(model)
    program = build(header_text(recipe, weights), tmp_path, options=["-O1", *SANITIZED])
    return model, expected_scores(model, X), *predict(program, X, recipe.n_outputs)


@pytest.mark.parametrize("name", models.NAMES)
def test_scores(name, tmp_path):
    model, expected, classes, found = compared(name, tmp_path, "float32")
    tolerance = (1e-3 if name in models.IS_ROUGH else 1e-5) * np.abs(expected).max()
    np.testing.assert_allclose(found, expected, rtol=0, atol=tolerance)
    if isinstance(model, CraftClassifier):
        assert (classes == found.argmax(axis=1)).all()


@pytest.mark.parametrize(
    "name", ["craft", "calibrated", "maclaurin", "random code, loss", "regressor", "linear columns"]
)
def test_whole_weights(name, tmp_path):
    _, expected, _, found = compared(name, tmp_path, "int16")
    worst = np.abs(found - expected).max() / np.abs(expected).max()
    assert 1e-7 < worst < 5e-4


def test_rows_that_are_not_finite(tmp_path):
    recipe = recipe_of(models.fitted("craft"))
    X = models.unseen_rows()[:3].copy()
    X[0, 2], X[1, 0] = np.nan, np.inf
    classes, _ = predict(build(header_text(recipe), tmp_path), X, recipe.n_outputs)
    assert classes[:2].tolist() == [-1, -1]
    assert classes[2] >= 0


@pytest.fixture(scope="module")
def digits(tmp_path_factory):
    data, folder = datasets.load("digits"), tmp_path_factory.mktemp("c")
    model = CraftClassifier(Polynomial(3), 128, metric=None, random_state=0).fit(data.X_train, data.y_train)
    export.c_header(model, folder / "digits.h", main=folder / "main.c")
    command = [COMPILER, *STRICT, "-O2", *SANITIZED, "main.c", "-lm", "-o", "predict"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return model, data.X_test, folder / "predict"


def ran(program, text):
    return subprocess.run([program], input=text, capture_output=True, text=True)


def test_the_example(digits):
    model, X, program = digits
    lines = [",".join(map(str, row.tolist())) for row in X]
    done = ran(program, "\n".join([",".join(f"pixel{i}" for i in range(64)), *lines]) + "\r\n")
    assert done.returncode == 0
    cells = [line.split(",") for line in done.stdout.splitlines()]
    assert [int(label) for label, _ in cells] == model.predict(X).tolist()
    best = model.predict_proba(X).max(axis=1)
    np.testing.assert_allclose([float(p) for _, p in cells], best, rtol=0, atol=2e-3)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("1,2,3\n", "Line 1 must have 64 numbers, got 3."),
        (",".join(["0"] * 64) + "\n" + ",".join(["x"] * 64) + "\n", "Line 2 must have numbers alone."),
        (",".join(["1"] * 65) + "\n", "Line 1 must have 64 numbers, got 65."),
        (",".join(["1"] * 63) + ",nan\n", "Line 1 must have finite numbers."),
        (",".join(["0"] * 64) + "\n" + "1," * 63 + "\n", "Line 2 must have numbers alone."),
        ("9" * 5000 + "\n", "Line 1 must have 64 numbers, got 1."),
    ],
)
def test_the_example_refuses(digits, text, message):
    done = ran(digits[2], text)
    assert done.returncode == 1
    assert done.stderr.strip() == message


def test_hostile_labels(tmp_path):
    labels = np.array(['"; system("x"); //', "??/\n*/ \\", "\N{GREEK SMALL LETTER ALPHA}\t0", "%s%n"])
    X, y, _ = models.rows()
    model = models._classifier().fit(X, labels[y])
    export.c_header(model, tmp_path / "model.h", main=tmp_path / "main.c")
    program = build((tmp_path / "model.h").read_text(), tmp_path, tmp_path / "main.c")
    text = "\n".join(",".join(map(repr, row.tolist())) for row in X[:20])
    found = subprocess.run([program], input=text.encode(), capture_output=True).stdout.decode()
    expected = model.predict(X[:20])
    assert [line.rpartition(",")[0] for line in found.replace("??/\n", "??/@").splitlines()] == [
        label.replace("\n", "@") for label in expected
    ]


def test_two_models_in_one_program(tmp_path):
    for name, prefix in (("craft", "one"), ("regressor", "two")):
        export.c_header(models.fitted(name), tmp_path / f"{prefix}.h", prefix=prefix)
    (tmp_path / "both.c").write_text(
        '#include "one.h"\n#include "two.h"\nint main(void) { float row[6] = {1}, s[4]; double t[2];'
        "one_init(); two_init(); return one_predict(row, s) < 0 || two_predict(row, t) < 0; }"
    )
    program = tmp_path / "both"
    subprocess.run([COMPILER, *STRICT, tmp_path / "both.c", "-lm", "-o", program], check=True)
    assert subprocess.run([program]).returncode == 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"weights": "int8"}, "weights must be one of 'auto', 'int16', 'float32', got 'int8'"),
        ({"prefix": "a b"}, "prefix must be small letters"),
    ],
)
def test_refusals(tmp_path, arguments, message):
    with pytest.raises(ValueError, match=message):
        export.c_header(models.fitted("craft"), tmp_path / "model.h", **arguments)
    assert not list(tmp_path.iterdir())


def test_landmarks_need_floats(tmp_path):
    with pytest.raises(ValueError, match="weights must be 'float32' for a model of landmarks"):
        export.c_header(models.fitted("landmarks"), tmp_path / "model.h", weights="int16")


def test_a_map_is_no_predictor(tmp_path):
    with pytest.raises(TypeError, match="must be a CraftClassifier or CraftRegressor"):
        export.c_header(CraftMap(random_state=0).fit(np.eye(3)), tmp_path / "map.h")
