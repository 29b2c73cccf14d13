"""Ctrl-C and SIGTERM end the program with one sentence and the right exit code, whatever it is at."""

import os
import signal
import subprocess
import sys

import numpy as np
import pytest

from craftmaps.cli import interrupts, learning
from tests.cli.running import PLAIN, write_parquet
from tests.cli.test_interrupted import wait_for
from tests.cli.test_phases import Silent

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no signals as POSIX knows them")

NOTHING_KEPT = "nothing was kept; with --checkpoint DIR a run can be resumed."


@pytest.mark.parametrize(
    ("module", "number", "arguments", "said"),
    [
        ("platform", signal.SIGINT, ["--help"], "Interrupted."),
        ("typer", signal.SIGINT, ["train", "rows.csv", "--out", "m.craft"], f"Interrupted: {NOTHING_KEPT}"),
        ("numpy", signal.SIGTERM, ["train", "rows.csv", "--out", "m.craft"], f"Terminated: {NOTHING_KEPT}"),
        ("scipy.sparse", signal.SIGINT, ["predict", "m.craft", "rows.csv", "--out", "p.csv"], "Interrupted."),
        ("sklearn.base", signal.SIGINT, ["evaluate", "m.craft", "rows.csv"], "Interrupted."),
    ],
)
def test_while_modules_are_imported(tmp_path, module, number, arguments, said):
    # Python tells each import on standard error as it ends: no clock is needed to hit the moment.
    command = [sys.executable, "-X", "importtime", "-c", "from craftmaps.cli import main; main()", *arguments]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True, cwd=tmp_path) as process:
        for line in process.stderr:
            if line.endswith(f" {module}\n"):
                process.send_signal(number)
                break
        rest = process.stderr.read()
    assert process.returncode == 128 + number
    assert [line for line in rest.splitlines() if not line.startswith("import time:")] == [f"craftmaps: {said}"]


def test_an_early_interruption_says_where_the_checkpoint_is(tmp_path):
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "run.checkpoint").touch()
    command = [sys.executable, "-X", "importtime", "-c", "from craftmaps.cli import main; main()"]
    command += ["train", "my rows.csv", "--out", "m.craft", "--checkpoint=run"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True, cwd=tmp_path) as process:
        while not process.stderr.readline().endswith(" typer\n"):
            pass
        process.send_signal(signal.SIGINT)
        last = process.stderr.read().splitlines()[-1]
    assert last == (
        "craftmaps: Interrupted: what was counted is in run/run.checkpoint; "
        "go on with: craftmaps train 'my rows.csv' --out m.craft --checkpoint=run --resume"
    )


@pytest.mark.parametrize(
    ("options", "moment", "left"),
    [
        (["--components", 24], "Choosing kernel and metric", NOTHING_KEPT),
        (["--components", 24, "--checkpoint", "{run}"], "Choosing kernel and metric", None),
        (
            [*PLAIN, "--test", "{data}"],
            "Testing: 20 rows",
            "the model is in {out}, but the rest of the run is missing.",
        ),
    ],
)
def test_while_a_model_is_made(server, tmp_path, options, moment, left):
    names = {"data": write_parquet(tmp_path / "train.parquet"), "out": tmp_path / "m.craft", "run": tmp_path / "run"}
    arguments = ["train", names["data"], "--out", names["out"], "--batch-rows", 10, *options]
    server.start(*(str(one).format(**names) for one in arguments), slowness=0.01, seconds_between_lines=0.0)
    wait_for(lambda: moment in server.printed())
    server.signal(signal.SIGINT)
    code, printed = server.end()
    assert code == 130
    said = [line for line in printed.splitlines() if "Interrupted" in line]
    assert said == printed.splitlines()[-1:]
    assert "Traceback" not in printed
    if left is not None:
        assert said[0] == f"craftmaps: Interrupted: {left.format(**names)}"
    # Where all rows were counted before the choices they are kept; nothing was otherwise.
    assert ("--resume" in said[0]) == (tmp_path / "run" / "run.checkpoint").exists()


def test_while_other_commands_work(server, tmp_path):
    data = write_parquet(tmp_path / "train.parquet")
    assert server.run("train", data, "--out", tmp_path / "m.craft", *PLAIN)[0] == 0
    for arguments, moment in (
        (["evaluate", tmp_path / "m.craft", data, "--batch-rows", 10], "Evaluating: 20 rows"),
        (["demo", "--out", tmp_path / "demo", "--components", 64], "landmarks ..."),
    ):
        server.start(*arguments, slowness=0.01, seconds_between_lines=0.0)
        wait_for(lambda moment=moment: moment in server.printed())
        server.signal(signal.SIGINT)
        code, printed = server.end()
        assert code == 130
        assert printed.splitlines()[-1] == "craftmaps: Interrupted."
        assert "Traceback" not in printed


class LeftError(Exception):
    """The program was left."""


class InterruptedLearner:
    """Interrupts itself while it counts a block."""

    def __init__(self, block):
        self._block, self.answers, self.n_rows_seen_ = block, [], 0

    def fit_stream(self, blocks, **_):
        self.watched = blocks
        for i, (X, _y) in enumerate(blocks):
            if i == self._block:
                self.answers.append(blocks.stop())
            self.n_rows_seen_ += X.shape[0]


@pytest.mark.parametrize(("block", "answer", "kept"), [(0, False, None), (1, True, 10), (2, True, 15)])
def test_a_block_that_is_being_counted_is_finished_first(monkeypatch, tmp_path, block, answer, kept):
    def leave():
        raise LeftError

    monkeypatch.setattr(interrupts, "leave", leave)
    written = []
    monkeypatch.setattr(
        "craftmaps.learners.persistence.checkpoint.write", lambda path, model, _n: written.append(model.n_rows_seen_)
    )
    model = InterruptedLearner(block)
    blocks = [(np.zeros((5, 2)), np.zeros(5))] * 4
    folder = learning.CheckpointFolder(tmp_path, {}, False)
    watched = learning.WatchedPass(model, blocks, Silent(), folder)
    if answer:
        with pytest.raises(LeftError):
            watched.fit(every=100)
        assert written == [kept]
    else:  # there is nothing to keep, so that whoever asked leaves at once
        watched.fit(every=100)
    assert model.answers == [answer]
