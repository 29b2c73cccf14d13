"""`train --test-share` holds rows out: never trained on, the same in every format and pass, equal rows together."""

import json
import re
import signal

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet

from craftmaps import load_model
from craftmaps.scores.held_out_share import HeldOutShare
from tests.cli.running import PLAIN, example_rows, example_table, run, run_json, write_parquet
from tests.cli.test_interrupted import options, wait_for


def test_the_model_is_that_of_the_other_rows(tmp_path):
    data = write_parquet(tmp_path / "all.parquet")
    held_out = HeldOutShare(0.25, 3).holds_out(example_rows()[0].astype(np.float32))
    pa.parquet.write_table(example_table().filter(~held_out), tmp_path / "rest.parquet")
    pa.parquet.write_table(example_table().filter(held_out), tmp_path / "held.parquet")
    common = ["--seed", 3, *PLAIN]
    split = run_json("train", data, "--out", tmp_path / "split.craft", "--test-share", 0.25, *common)
    whole = run_json(
        "train",
        tmp_path / "rest.parquet",
        "--out",
        tmp_path / "rest.craft",
        "--test",
        tmp_path / "held.parquet",
        *common,
    )
    # The files differ in the means of columns alone, which the first look takes from all rows.
    models = [load_model(tmp_path / f"{name}.craft") for name in ("split", "rest")]
    assert np.array_equal(models[0].coef_, models[1].coef_)
    assert split["test"] == whole["test"]
    assert split["test"]["rows"] == held_out.sum()
    assert split["test_share"] == 0.25
    # 60 rows expected; the standard deviation of a binomial count is 6.7.
    assert abs(held_out.sum() - 60) < 4 * 6.7


def test_formats_and_blocks_hold_out_the_same_rows(tmp_path):
    write_parquet(tmp_path / "rows.parquet")
    pa.csv.write_csv(example_table(), tmp_path / "rows.csv")
    flags = ["--test-share", 0.3, *PLAIN]
    found = [
        run_json("train", tmp_path / name, "--out", tmp_path / "m.craft", *flags, "--batch-rows", rows)["test"]
        for name, rows in (("rows.parquet", 240), ("rows.parquet", 7), ("rows.csv", 50))
    ]
    assert found[0]["rows"] == found[1]["rows"] == found[2]["rows"]
    assert [line["rows"] for line in found[0]["classes"]] == [line["rows"] for line in found[2]["classes"]]


def test_with_a_report(tmp_path):
    data = write_parquet(tmp_path / "rows.parquet")
    arguments = ["train", data, "--out", tmp_path / "m.craft", "--report", tmp_path / "r.html", "--test-share", 0.2]
    printed = run(*arguments, *PLAIN).stdout
    n_rows = run_json(*arguments, *PLAIN)["test"]["rows"]
    assert f"on {n_rows} rows, a share of 0.2 held out" in printed
    assert re.search(rf"of {n_rows} test rows", (tmp_path / "r.html").read_text())


def test_interrupted_and_resumed(server, tmp_path):
    data = write_parquet(tmp_path / "train.parquet", n_rows=400)
    share = ["--test-share", "0.25"]
    code, printed = server.run("train", data, *options(tmp_path, "whole"), *share)
    assert code == 0, printed
    arguments = ["train", data, *options(tmp_path, "resumed"), "--checkpoint", tmp_path / "run"]
    server.start(*arguments, *share, slowness=0.02, seconds_between_lines=0.0)
    wait_for(lambda: (tmp_path / "run" / "run.json").exists() and "Learning: " in server.printed())
    server.signal(signal.SIGINT)
    assert server.end()[0] == 130
    code, printed = server.run(*arguments, "--test-share", "0.5", "--resume")
    assert code == 1
    assert "other test share, 0.25 before and 0.5 now" in printed
    code, printed = server.run(*arguments, *share, "--resume", "--json")
    assert code == 0, printed
    assert (tmp_path / "resumed.craft").read_bytes() == (tmp_path / "whole.craft").read_bytes()
    document = json.loads(printed[printed.index("{") :])
    assert document["test"]["rows"] + load_model(tmp_path / "resumed.craft").n_rows_seen_ == 400
