"""The seconds of a run, told apart by what they were spent on."""

from types import SimpleNamespace

import numpy as np
import pytest

from craftmaps._system.progress import Phase, tell
from craftmaps.cli import learning
from tests.cli.running import PLAIN, run, run_json, write_parquet


class Silent:
    """A progress that shows nothing."""

    def __getattr__(self, name):
        return lambda *_: None


class TimedLearner:
    """Takes seconds of a clock of its own, for one step after another."""

    def __init__(self, clock, is_settled_early):
        self._clock, self._is_settled_early = clock, is_settled_early

    def fit_stream(self, blocks, **_):
        for i, _block in enumerate(blocks):
            self._clock.now += 1
            if i == 0 and self._is_settled_early:
                self._settle()
        if not self._is_settled_early:
            self._settle()
        for phase, seconds in ((Phase.PENALTY, 100), (Phase.PENALTY, 200)):
            self._take(phase, seconds)
        self._take(Phase.SOLUTION, 400)

    def _settle(self):
        self._take(Phase.CHOICES, 1000)
        self._take(Phase.CHOICES, 2000)
        self._take(Phase.METRIC, 4000)
        self._take(Phase.MAP, 8)

    def _take(self, phase, seconds):
        tell(phase)
        self._clock.now += seconds


@pytest.mark.parametrize("is_settled_early", [True, False])
def test_choices_are_a_phase_of_their_own(is_settled_early):
    clock = SimpleNamespace(now=0.0)
    blocks = [(np.zeros((5, 2)), np.zeros(5))] * 3
    learner = TimedLearner(clock, is_settled_early)
    watched = learning.WatchedPass(learner, blocks, Silent(), None, now=lambda: clock.now)
    seconds = watched.fit(every=10)
    assert seconds == {"choices": 7000, "learning": 11, "solving": 700}
    assert sum(seconds.values()) == clock.now


def test_a_run_tells_its_phases_in_order(tmp_path):
    data = write_parquet(tmp_path / "train.parquet")
    out = ["--out", tmp_path / "m.craft"]
    chosen = run_json("train", data, *out, "--components", 16, "--test", data)["seconds"]
    assert list(chosen) == ["choices", "learning", "solving", "testing"]
    assert chosen["choices"] > chosen["solving"]
    assert "time" in run("train", data, *out, *PLAIN).stdout
    # Nothing was left to choose.
    assert list(run_json("train", data, *out, *PLAIN)["seconds"]) == ["learning", "solving"]
