"""Learners and data frames: numbers as they are, everything else through a stream, whose rule a model keeps."""

import numpy as np
import pandas as pd
import pytest

from craftmaps import CraftClassifier, Polynomial, load_model, streams
from tests.learner.examples import classifier

SETTINGS = {"n_components": 32, "metric": None, "random_state": 0}


def people(n_rows=200):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"age": rng.normal(40, 9, n_rows).round(), "eyes": rng.choice(["blue", "brown"], n_rows)})
    frame.loc[::7, "age"] = np.nan
    return frame, np.where((frame["eyes"] == "blue") & (frame["age"].fillna(40) > 35), "yes", "no")


def test_text_and_missing_values_are_named_and_the_way_out_too():
    frame, y = people()
    words = r"or other missing values, got some in 'age', 'eyes': give the frame as fit_stream\(streams.of\(X, y=y"
    for learn in (classifier().fit, classifier().partial_fit):
        with pytest.raises(ValueError, match=words):
            learn(frame, y)
    assert classifier().fit(frame[["age"]].fillna(0), y).n_features_in_ == 1


@pytest.mark.parametrize("polars", [False, True], ids=["pandas", "polars"])
def test_a_model_of_a_frame_predicts_frames(tmp_path, polars):
    frame, y = people()
    given = pytest.importorskip("polars").from_pandas(frame) if polars else frame
    stream = streams.of(given, y=y)
    model = CraftClassifier(Polynomial(2), **SETTINGS).fit_stream(stream)
    assert model.score(given, y) > np.mean(y == "no") + 0.1
    rows = np.concatenate([X for X, _ in stream])
    np.testing.assert_array_equal(model.predict_proba(given), model.predict_proba(rows))
    model.save(tmp_path / "plain.craft")
    model.save(tmp_path / "noted.craft", notes={"by": "us"})
    for name in ("plain", "noted"):
        loaded = load_model(tmp_path / f"{name}.craft")
        np.testing.assert_array_equal(loaded.predict(given), model.predict(given))
    assert loaded.notes_["by"] == "us"
    with pytest.raises(ValueError, match="lacks the columns 'eyes'"):
        model.predict(given[["age"]])


def test_a_rule_is_of_the_rows_of_the_last_fit():
    frame, y = people()
    model = CraftClassifier(Polynomial(2), **SETTINGS).fit_stream(streams.of(frame, y=y))
    model.fit(np.arange(400.0).reshape(200, 2), y)
    assert not hasattr(model, "notes_")
