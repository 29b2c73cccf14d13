"""What a process that was killed while it wrote has left goes with the next write of the same file."""

import subprocess
import sys
from pathlib import Path

import pytest

from craftmaps._system.atomic_files import new_file

KILLED = """
import os, signal, sys
from pathlib import Path
from craftmaps._system.atomic_files import new_file
with new_file(Path(sys.argv[1])) as new:
    new.write_text("half")
    os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="processes are told apart on POSIX alone")
def test_leftovers_of_processes_that_ended_are_removed(tmp_path):
    path, other = tmp_path / "model.craft", tmp_path / "another.craft"
    for target in (path, other):
        subprocess.run([sys.executable, "-c", KILLED, target], check=False)
    left = {file.name.split(".")[0] for file in tmp_path.iterdir()}
    assert left == {"model", "another"}
    with new_file(path) as new:
        new.write_text("whole")
    assert path.read_text() == "whole"
    assert [file.name.split(".")[0] for file in tmp_path.iterdir() if file != path] == ["another"]


def test_what_a_running_process_writes_stays(tmp_path):
    path = Path(tmp_path / "model.craft")
    with new_file(path) as outer:
        outer.write_text("outer")
        unrelated = tmp_path / "model.craft.other-host.1.new"
        unrelated.write_text("of another machine")
        with new_file(tmp_path / "second") as inner:
            inner.write_text("inner")
        assert outer.exists()
    assert path.read_text() == "outer"
    assert unrelated.exists()
