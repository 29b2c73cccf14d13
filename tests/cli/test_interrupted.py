"""A run that is killed or interrupted and resumed ends in the same model file; a full disk leaves the old one."""

import os
import shlex
import signal
import time

import numpy as np
import pytest

from tests.cli.running import PLAIN, write_parquet

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="this system cannot fork")

N_BLOCKS = 40


@pytest.fixture
def data(tmp_path):
    return write_parquet(tmp_path / "train.parquet", n_rows=10 * N_BLOCKS)


def options(folder, name):
    return ["--out", folder / f"{name}.craft", "--batch-rows", 10, *PLAIN]


def wait_for(condition, seconds=300.0):
    """Wait until a condition holds."""
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.002)


@pytest.fixture
def whole(server, tmp_path, data):
    """The model file of a run that nothing happened to."""
    code, printed = server.run("train", data, *options(tmp_path, "whole"))
    assert code == 0, printed
    return (tmp_path / "whole.craft").read_bytes()


def test_ten_kills_end_in_the_same_file(server, tmp_path, data, whole):
    checkpoint = tmp_path / "run" / "run.checkpoint"
    arguments = ["train", data, *options(tmp_path, "killed"), "--checkpoint", tmp_path / "run"]
    arguments += ["--checkpoint-every", 10, "--resume"]
    rng = np.random.default_rng(0)
    n_kept, patience = 0, 1.0
    for _ in range(10):
        server.start(*arguments, slowness=0.01)
        time.sleep(patience * float(rng.uniform(0.1, 0.7)))
        server.signal(signal.SIGKILL)
        code, printed = server.end()
        n_kept += checkpoint.exists()
        if code == 0:  # it was done before: begin again, and wait less
            (tmp_path / "killed.craft").unlink()
            patience /= 2
        else:
            assert code == -signal.SIGKILL, printed
            patience *= 1.0 if checkpoint.exists() else 1.5  # a busy machine takes longer to write the first one
    assert n_kept >= 3  # else the kills came too early to test anything
    code, printed = server.run(*arguments)
    assert code == 0, printed
    assert (tmp_path / "killed.craft").read_bytes() == whole
    assert sorted(path.name for path in tmp_path.iterdir()) == ["killed.craft", "run", "train.parquet", "whole.craft"]
    assert not list((tmp_path / "run").iterdir())


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_interrupted_and_resumed(server, tmp_path, data, whole, number):
    arguments = ["train", data, *options(tmp_path, "resumed"), "--checkpoint", tmp_path / "run"]
    server.start(*arguments, slowness=0.02, seconds_between_lines=0.0)
    wait_for(lambda: "Learning: 100 rows" in server.printed())
    server.signal(number)
    code, printed = server.end()
    assert code == 128 + number
    checkpoint = tmp_path / "run" / "run.checkpoint"
    word = {signal.SIGINT: "Interrupted", signal.SIGTERM: "Terminated"}[number]
    typed = shlex.join(["craftmaps", *map(str, arguments)])
    said = f"craftmaps: {word}: what was counted is in {checkpoint}; go on with: {typed} --resume"
    assert printed.splitlines()[-1] == said
    assert "Traceback" not in printed
    assert not (tmp_path / "resumed.craft").exists()
    code, printed = server.run(*arguments)
    assert code == 1
    assert "go on with --resume" in printed
    code, printed = server.run(*arguments, "--resume")
    assert code == 0
    assert (tmp_path / "resumed.craft").read_bytes() == whole


def test_interrupted_while_passing_over_what_was_counted(server, tmp_path, data, whole):
    arguments = ["train", data, *options(tmp_path, "twice"), "--checkpoint", tmp_path / "run"]
    for wanted, flags in (("Learning: 200 rows", []), ("Learning: 50 rows", ["--resume"])):
        server.start(*arguments, *flags, slowness=0.02, seconds_between_lines=0.0)
        wait_for(lambda wanted=wanted: wanted in server.printed())
        server.signal(signal.SIGINT)
        assert server.end()[0] == 130
    assert server.run(*arguments, "--resume")[0] == 0
    assert (tmp_path / "twice.craft").read_bytes() == whole


def test_interrupted_without_a_checkpoint(server, tmp_path, data):
    server.start("train", data, *options(tmp_path, "gone"), slowness=0.02, seconds_between_lines=0.0)
    wait_for(lambda: "Learning: 50 rows" in server.printed())
    server.signal(signal.SIGINT)
    code, printed = server.end()
    assert code == 130
    said = "craftmaps: Interrupted: nothing was kept; with --checkpoint DIR a run can be resumed."
    assert printed.splitlines()[-1] == said
    assert sorted(path.name for path in tmp_path.iterdir()) == ["train.parquet"]


def test_predictions_that_are_interrupted_leave_nothing(server, tmp_path, data, whole):
    out = tmp_path / "predictions.csv"
    arguments = ["predict", tmp_path / "whole.craft", data, "--out", out, "--batch-rows", 10]
    server.start(*arguments, slowness=0.02, seconds_between_lines=0.0)
    wait_for(lambda: "Predicting: 50 rows" in server.printed())
    server.signal(signal.SIGINT)
    code, printed = server.end()
    assert code == 130
    assert printed.splitlines()[-1] == f"craftmaps: Interrupted: {out} was not written."
    assert sorted(path.name for path in tmp_path.iterdir()) == ["train.parquet", "whole.craft"]


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (["--batch-rows", 20], "other batch rows, 10 before and 20 now"),
        (["--max-rows", 300], "other max rows, None before and 300 now"),
        (["--drop", "x_1"], "other columns"),
        (["--seed", 1], "random_state=0, expected 1"),
        (["--components", 25], "n_components=24, expected 25"),
    ],
)
def test_other_rows_or_parameters_are_not_resumed(server, tmp_path, data, change, said):
    arguments = ["train", data, *options(tmp_path, "other"), "--checkpoint", tmp_path / "run"]
    server.start(*arguments, slowness=0.02, seconds_between_lines=0.0)
    wait_for(lambda: "Learning: 50 rows" in server.printed())
    server.signal(signal.SIGINT)
    assert server.end()[0] == 130
    code, printed = server.run(*arguments, *change, "--resume")
    assert code == 1
    assert said in printed
    assert (tmp_path / "run" / "run.checkpoint").exists()


FULL = {
    "a model": (["train", "{data}", "--out", "{old}.craft", *PLAIN], 2_000),
    "a page": (["train", "{data}", "--out", "{new}.craft", "--report", "{old}.html", *PLAIN], 12_000),
    "predictions as Parquet": (["predict", "{model}", "{data}", "--out", "{old}.parquet", "--probabilities"], 1_000),
    "predictions as CSV": (["predict", "{model}", "{data}", "--out", "{old}.csv", "--probabilities"], 1_000),
    "predictions as NPY": (["predict", "{model}", "{data}", "--out", "{old}.npy", "--probabilities"], 1_000),
}


@pytest.mark.parametrize("case", FULL)
def test_a_full_disk_leaves_the_file_that_was_there(server, tmp_path, data, whole, case):
    arguments, most_bytes = FULL[case]
    names = {"data": data, "model": tmp_path / "whole.craft", "old": tmp_path / "old", "new": tmp_path / "new"}
    arguments = [str(argument).format(**names) for argument in arguments]
    old = tmp_path / next(argument for argument in arguments if "/old." in argument)
    old.write_bytes(b"what was there")
    code, printed = server.run(*arguments, most_bytes=most_bytes)
    assert code == 1
    assert printed.splitlines()[-1] == f"craftmaps: {old} cannot be written: File too large."
    assert old.read_bytes() == b"what was there"
    assert not list(tmp_path.glob("*.new"))


def test_a_model_that_cannot_be_written_can_be_resumed(server, tmp_path, data, whole):
    out = tmp_path / "out"
    out.mkdir()
    arguments = ["train", data, *options(out, "late"), "--checkpoint", tmp_path / "run"]
    server.start(*arguments, slowness=0.02, seconds_between_lines=0.0)
    wait_for(lambda: "Learning: 50 rows" in server.printed())
    out.rmdir()
    code, printed = server.end()
    assert code == 1
    assert printed.splitlines()[-1] == f"craftmaps: {out / 'late.craft'} cannot be written: No such file or directory."
    out.mkdir()
    code, printed = server.run(*arguments, "--resume")
    assert code == 0
    assert "There is no checkpoint" not in printed
    assert (out / "late.craft").read_bytes() == whole
