"""Targets are values: taking more labels gives new ones, and columns find their places among wider ones."""

import numpy as np
import pytest

from craftmaps.learners.output_codes import OutputCode
from craftmaps.learners.targets import ClassTargets, NumberTargets

CLASSES = ClassTargets(OutputCode("one-vs-rest", None, "euclidean", 0))


def test_classes_are_widened_and_the_narrower_ones_stay():
    few, y = CLASSES.taking(["b", "d", "b"])
    more, _ = few.taking(["a", "d"])
    assert few.classes.tolist() == ["b", "d"]
    assert more.classes.tolist() == ["a", "b", "d"]
    assert more.taking(["d"])[0] is more
    places = few.places(more)
    wide = np.zeros((3, 3))
    wide[:, places] = few.encoded(y)
    np.testing.assert_array_equal(wide, more.encoded(y))
    np.testing.assert_array_equal(few.hashes(y), more.hashes(y))  # a hash is of the label, not of its place
    assert few.joined(more).classes.tolist() == more.joined(few).classes.tolist()


def test_errors_of_classes_are_of_the_nearest_word():
    targets, y = CLASSES.taking(np.array([3, 1, 2]))
    outputs = np.array([[0.1, 0.2, 0.9], [0.9, 0.1, 0.3], [0.2, 0.1, 0.9]])
    np.testing.assert_array_equal(targets.errors(outputs, y), [0, 0, 1])


def test_numbers_keep_the_shape_of_the_first_rows():
    flat, columns = NumberTargets().taking([1.0, 2.0])
    assert (flat, columns.shape) == (NumberTargets(1, True), (2, 1))
    assert flat.taking([[3.0]])[0] is flat
    assert NumberTargets().taking([[1.0, 2.0]])[0] == NumberTargets(2, False)
    for targets, y in ((flat, [[1.0, 2.0]]), (NumberTargets(2, False), [1.0])):
        with pytest.raises(ValueError, match=f"y must have {targets.n_columns} targets as before, got"):
            targets.taking(y)


def test_no_column_of_numbers_outweighs_the_others():
    targets, y = NumberTargets().taking(np.random.default_rng(0).normal(size=(50, 2)) * [1.0, 1000.0])
    np.testing.assert_allclose(*targets.balanced(y).std(axis=0))
    outputs = y + np.array([1.0, 0.0])
    balanced, plain = targets.balanced_errors(y)(outputs, y), targets.errors(outputs, y)
    assert balanced.mean() > 1e4 * plain.mean()
