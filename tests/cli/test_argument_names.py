"""Errors about arguments become errors about options, by their attributes."""

import pickle

import pytest
import typer

from craftmaps._system.errors import ArgumentError
from craftmaps._system.memory_budget import TooWideError
from craftmaps.cli.argument_names import named_as_options


def test_an_argument_is_named_as_its_option():
    with (
        pytest.raises(typer.BadParameter, match=r"^--id must be a column of rows\.csv, got 'a'\.$"),
        named_as_options(),
    ):
        raise ArgumentError("ids", "must be a column of rows.csv, got 'a'.")


def test_a_target_that_nobody_typed_is_that_of_the_training_rows():
    with pytest.raises(ValueError, match=r"^The target of the training rows must be a position, got 'a'\.$"):
        with named_as_options(is_target_typed=False):
            raise ArgumentError("target", "must be a position, got 'a'.")


def test_other_arguments_keep_their_names():
    with pytest.raises(ArgumentError, match=r"^dtype must be float32 or float64, got 'int'\.$"), named_as_options():
        raise ArgumentError("dtype", "must be float32 or float64, got 'int'.")


@pytest.mark.parametrize("error", [ArgumentError("ids", "must be short."), TooWideError(100, 2 * 10**9, 10**9, 7)])
def test_errors_with_attributes_survive_a_pickle(error):
    again = pickle.loads(pickle.dumps(error))
    assert type(again) is type(error)
    assert str(again) == str(error)
    assert vars(again) == vars(error)
