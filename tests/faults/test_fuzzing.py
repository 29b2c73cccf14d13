"""A few hundred mutated files: each is refused in one sentence, or gives a model that predicts."""

import numpy as np

from craftmaps import CraftClassifier, Laplace
from tests.faults import broken_judge
from tests.faults.fuzzing.bases import write_bases
from tests.faults.fuzzing.judging import judged
from tests.faults.fuzzing.pool import Child, Fuzzer

# `make fuzz` runs thousands.
KINDS = ("model", "tally", "checkpoint", "run", "data")


def test_mutated_files(tmp_path):
    fuzzer = Fuzzer(write_bases(tmp_path / "good files", KINDS), seed=0, folder=tmp_path)
    results = list(fuzzer.run(range(400)))
    failed = [result for result in results if not result.is_good]
    assert not failed, "\n".join(f"case {result.number}: {result.outcome} {result.words}" for result in failed)
    outcomes = {(result.base.kind, result.outcome) for result in results}
    assert {
        (kind, outcome) for kind in ("model", "tally", "checkpoint") for outcome in ("accepted", "refused")
    } <= outcomes


def test_a_case_is_made_of_its_number_alone(tmp_path):
    fuzzers = [
        Fuzzer(write_bases(tmp_path / name, ("run",)), seed=3, folder=tmp_path / f"{name} cases") for name in "ab"
    ]
    for number in range(20):
        assert fuzzers[0].case(number)[1:] == fuzzers[1].case(number)[1:]


def test_what_goes_wrong_is_noticed(tmp_path):
    """A child that dies, computes for too long or runs out of memory is told apart, and replaced."""
    base, child = write_bases(tmp_path, ("run",))[0], Child(0.5, "tests.faults.broken_judge")
    outcomes = [child.judge(base._replace(name=name), base.path, None)["outcome"] for name in broken_judge.OUTCOMES]
    child.end()
    assert outcomes == list(broken_judge.OUTCOMES.values())


def test_a_sound_model_that_rows_of_the_judge_are_too_long_for(tmp_path):
    rows = np.random.default_rng(0).normal(size=(60, 6))
    learner = CraftClassifier(
        Laplace(0.5), 16, feature_map="landmarks", metric=None, normalize=False, random_state=0, alphas=0.1
    )
    learner.fit(rows / np.linalg.norm(rows, axis=1, keepdims=True), rows[:, 0] > 0)
    learner.save(tmp_path / "model.craft")
    outcome, words = judged("model", "landmarks", tmp_path / "model.craft", None)
    assert outcome == "refused later"
    assert "normalise the rows first" in words
