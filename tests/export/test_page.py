"""The page as a file: small, harmless, and refusing what it cannot show."""

import base64
import hashlib
import json
import re

import numpy as np
import pytest

from craftmaps import CraftClassifier, CraftMap, Polynomial, datasets, export, load_model
from tests.export import models
from tests.export.test_recipe import expected_scores

EVIL = ["</script><script>alert(1)</script>", "<!--<script>", "<img src=x onerror=alert(1)>", "' onload='alert(1)"]


def page_of(model, tmp_path, **settings):
    export.page(model, tmp_path / "page.html", **settings)
    return (tmp_path / "page.html").read_text(encoding="utf-8")


def data_of(text):
    return json.loads(re.search(r'id="model">(.*?)</script>', text, re.S)[1])


@pytest.fixture(scope="module")
def digits():
    data = datasets.load("digits")
    return CraftClassifier(Polynomial(3), 64, metric=None, random_state=0).fit(data.X_train, data.y_train), data


def test_pictures_are_drawn(digits, tmp_path):
    model, data = digits
    plain = data_of(page_of(model, tmp_path, X_test=data.X_test, y_test=data.y_test))
    assert plain["picture"]["side"] == 8
    assert (plain["picture"]["low"], plain["picture"]["high"]) == (0, 16)
    assert 7 < plain["picture"]["box"] <= 8
    assert len(plain["examples"]["labels"]) == 12
    assert plain["examples"]["rows"]["type"] == "uint8"
    assert 'id="draw"' in page_of(model, tmp_path)
    assert 'id="form"' in page_of(model, tmp_path, picture=False)


def test_dark_pictures_on_light_ground(digits, tmp_path):
    model, data = digits
    picture = data_of(page_of(model, tmp_path, X_test=16 - data.X_test))["picture"]
    assert (picture["low"], picture["high"]) == (16, 0)


def test_rows_that_are_no_square_have_a_form(tmp_path):
    assert 'id="form"' in page_of(models.fitted("craft"), tmp_path)


def test_the_kernel_has_all_its_parameters(tmp_path):
    assert "Polynomial(degree=3, coef0=0.5, gamma=1.5)" in page_of(models.fitted("craft"), tmp_path)


def test_columns_of_a_data_frame_have_names(tmp_path):
    pandas = pytest.importorskip("pandas", reason="pandas is not installed")
    X, y, _ = models.rows()
    names = ["age", "<b>", "x y", "d", "e", "f"]
    model = models._classifier().fit(pandas.DataFrame(X, columns=names), y)
    columns = data_of(page_of(model, tmp_path))["recipe"]["columns"]["features"]
    assert [column["name"] for column in columns] == names
    model.save(tmp_path / "frame.craft")
    again = data_of(page_of(load_model(tmp_path / "frame.craft"), tmp_path))["recipe"]["columns"]["features"]
    assert again == columns


def test_it_may_run_its_own_script_alone(digits, tmp_path):
    text = page_of(digits[0], tmp_path)
    script, style = (re.search(rf"<{tag}>(.*?)</{tag}>", text, re.S)[1] for tag in ("script", "style"))
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', text)[1]
    assert policy.startswith("default-src 'none'; script-src 'sha256-")
    for part in (script, style):
        assert base64.b64encode(hashlib.sha256(part.encode()).digest()).decode() in policy
    assert "unsafe-inline" not in policy
    assert len(re.findall("<script", text)) == 2
    assert not re.search(r"https?://", text)


def test_hostile_labels_stay_text(tmp_path):
    X, y, _ = models.rows()
    model = models._classifier().fit(X, np.array(EVIL)[y])
    model.save(tmp_path / "evil.craft", notes={"columns": None, "title": EVIL[0]})
    text = page_of(load_model(tmp_path / "evil.craft"), tmp_path, title=EVIL[0], X_test=X, y_test=np.array(EVIL)[y])
    assert len(re.findall("<script", text)) == 2
    assert "<img" not in text
    assert "alert(1)</script>" not in text
    assert data_of(text)["recipe"]["classes"]["labels"] == sorted(EVIL)


def test_hostile_columns_are_refused(tmp_path):
    model = models.fitted("craft")
    model.save(tmp_path / "evil.craft", notes={"columns": {"features": [{"name": EVIL[0], "kind": "toString"}]}})
    with pytest.raises(ValueError, match="kind must be one of"):
        export.page(load_model(tmp_path / "evil.craft"), tmp_path / "page.html")
    assert not (tmp_path / "page.html").exists()


@pytest.mark.parametrize("precision", ["int16", "float32"])
def test_a_saved_model_gives_the_same_page(digits, tmp_path, precision):
    model, data = digits
    model.save(tmp_path / "digits.craft", dtype=np.float64)
    again = load_model(tmp_path / "digits.craft")
    plain = [data_of(page_of(m, tmp_path, precision=precision))["recipe"] for m in (model, again)]
    assert plain[0] == plain[1]
    assert np.isfinite(expected_scores(again, data.X_test)).all()


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"precision": "int8"}, "precision must be one of 'int16', 'float32', 'float64', got 'int8'"),
        ({"X_test": np.ones((2, 3))}, r"X_test must be rows of 6 numbers, got shape \(2, 3\)"),
        ({"X_test": np.full((2, 6), np.nan)}, "X_test must be finite"),
        ({"X_test": np.ones((2, 6)), "y_test": [1]}, "y_test must have a label for each of the 2 rows"),
        ({"picture": True}, "picture must be False for rows of 6 numbers"),
        ({"picture": "yes"}, "picture must be True, False or 'auto'"),
    ],
)
def test_refusals(tmp_path, settings, message):
    with pytest.raises(ValueError, match=message):
        export.page(models.fitted("craft"), tmp_path / "page.html", **settings)
    assert not list(tmp_path.iterdir())


def test_a_map_is_no_predictor(tmp_path):
    with pytest.raises(TypeError, match="must be a CraftClassifier or CraftRegressor"):
        export.page(CraftMap(random_state=0).fit(np.eye(3)), tmp_path / "map.html")
