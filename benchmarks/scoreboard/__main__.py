"""Command line: `python -m benchmarks.scoreboard run | collect | plot`, from the root of the repository."""

import argparse
import os
import subprocess
import sys
from pathlib import Path

from benchmarks.measuring import ROOT, say
from benchmarks.scoreboard.board import FILE, read_board

FOLDER = ROOT / "benchmarks" / "scoreboard"
RESULTS = ROOT / "benchmarks" / "results" / "scoreboard.jsonl"


def main() -> None:
    """Read the command line and do one step."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.scoreboard", description=__doc__)
    steps = parser.add_subparsers(dest="step", required=True)
    run = steps.add_parser("run", help="measure cells that have no result yet")
    run.add_argument("--data", nargs="+", help="data sets; all if not given")
    run.add_argument("--methods", nargs="+", help="methods or families; all if not given")
    run.add_argument("--seeds", nargs="+", type=int, help="all of the board if not given")
    run.add_argument("--interpreter", action="append", default=[], metavar="NAME=PATH")
    run.add_argument("--log", type=Path, help="go on in the background and write progress to this file")
    for step in (run, steps.add_parser("collect"), steps.add_parser("plot")):
        step.add_argument("--board", type=Path, default=FILE)
        step.add_argument("--results", type=Path, default=RESULTS)
    for step, default in (("collect", FOLDER / "RESULTS.md"), ("plot", FOLDER)):
        steps.choices[step].add_argument("--out", type=Path, default=default)
    arguments = parser.parse_args()
    if arguments.step == "run":
        _run(arguments)
    elif arguments.step == "collect":
        from benchmarks.scoreboard.collecting import page

        arguments.out.write_text(page(arguments.results, read_board(arguments.board)), encoding="utf-8")
    else:
        from benchmarks.scoreboard.plotting import plot

        plot(arguments.results, read_board(arguments.board), arguments.out)


def _run(arguments: argparse.Namespace) -> None:
    """Run the cells of the command line, in the background if there is a log."""
    from benchmarks.scoreboard.running import Plan, run

    board = read_board(arguments.board)
    families = {method.family for method in board.methods.values()}
    _check("--data", arguments.data, [*board.scalings])
    _check("--methods", arguments.methods, [*board.methods, *families])
    interpreters = dict(given.partition("=")[::2] for given in arguments.interpreter)
    if arguments.log is not None:
        _in_background(arguments.log)
        return
    cells = [
        cell
        for cell in board.cells()
        if (arguments.data is None or cell.data in arguments.data)
        and (arguments.methods is None or {cell.method.name, cell.method.family} & set(arguments.methods))
        and (arguments.seeds is None or cell.seed in arguments.seeds)
    ]
    run(Plan(board, cells, interpreters, arguments.results.resolve()))


def _in_background(log: Path) -> None:
    """Start the same command without --log, detached from the terminal."""
    given = sys.argv[1:]
    place = next(i for i, argument in enumerate(given) if argument == "--log" or argument.startswith("--log="))
    given[place : place + (2 if given[place] == "--log" else 1)] = []
    command = [sys.executable, "-m", "benchmarks.scoreboard", *given]
    with log.open("a") as file:
        process = subprocess.Popen(command, stdout=file, stderr=file, env=os.environ, start_new_session=True)
    say(f"process {process.pid}, log {log}")


def _check(option: str, given: list[str] | None, known: list[str]) -> None:
    """Refuse names that are not known."""
    unknown = [name for name in given or () if name not in known]
    if unknown:
        raise SystemExit(f"{option} must be among {', '.join(known)}, got {', '.join(unknown)}.")


if __name__ == "__main__":
    main()
