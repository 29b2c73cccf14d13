"""Command line of the panel: `python -m benchmarks.panel run | collect | plot`, from the root of the repository."""

import argparse
import tempfile
from pathlib import Path

from benchmarks.measuring import ROOT, say

RESULTS = ROOT / "benchmarks" / "results" / "panel.jsonl"
PAGE = ROOT / "benchmarks" / "panel" / "RESULTS.md"
PICTURE = ROOT / "benchmarks" / "panel" / "panel.png"
SEEDS = (101, 102, 103)
DEVELOPMENT_SEEDS = (1, 2, 3)


def main() -> None:
    """Read the command line and do one step."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.panel", description=__doc__)
    steps = parser.add_subparsers(dest="step", required=True)
    _add_run(steps.add_parser("run", help="measure cells that have no result yet"))
    for name, default in (("collect", PAGE), ("plot", PICTURE)):
        step = steps.add_parser(name)
        step.add_argument("--results", type=Path, default=RESULTS)
        step.add_argument("--out", type=Path, default=default)
    arguments = parser.parse_args()
    if arguments.step == "run":
        _run(arguments)
    elif arguments.step == "collect":
        from benchmarks.panel.collecting import page

        arguments.out.write_text(page(arguments.results), encoding="utf-8")
    else:
        from benchmarks.panel.plotting import plot

        plot(arguments.results, arguments.out)


def _add_run(step: argparse.ArgumentParser) -> None:
    """Add the options of `run`."""
    step.add_argument("--data", nargs="+", help="data sets; all if not given")
    step.add_argument("--methods", nargs="+", default=["craftmaps", "competitors"], help="methods, or groups of them")
    step.add_argument("--seeds", nargs="+", type=int)
    step.add_argument("--threads", type=int, default=1)
    step.add_argument("--seconds", type=float, default=300.0, help="limit of processor seconds a thread")
    step.add_argument("--xrfm-seconds", type=float, default=200.0)
    step.add_argument("--memory-gb", type=float, default=8.0)
    step.add_argument("--development", action="store_true", help="validate on training rows; never read test rows")
    step.add_argument("--results", type=Path, help="file of JSON lines; a temporary folder in development")


def _run(arguments: argparse.Namespace) -> None:
    """Run the cells of the command line."""
    from benchmarks.panel.data_sets import DATA_SETS
    from benchmarks.panel.methods import GROUPS, METHODS
    from benchmarks.panel.running import Plan, run

    methods = [name for given in arguments.methods for name in GROUPS.get(given, [given])]
    data = arguments.data or list(DATA_SETS)
    _check("--methods", methods, [*METHODS])
    _check("--data", data, [*DATA_SETS])
    results = arguments.results
    if results is None and arguments.development:
        results = Path(tempfile.mkdtemp(prefix="panel-development-")) / "panel.jsonl"
    results = (results or RESULTS).resolve()
    if arguments.development and results.is_relative_to(RESULTS.parent):
        raise SystemExit(f"--results must be outside of {RESULTS.parent} in development, got {results}.")
    say(f"results: {results}")
    run(
        Plan(
            data=data,
            methods=methods,
            seeds=arguments.seeds or list(DEVELOPMENT_SEEDS if arguments.development else SEEDS),
            threads=arguments.threads,
            seconds=arguments.seconds,
            own_seconds={"xRFM": arguments.xrfm_seconds},
            memory_gb=arguments.memory_gb,
            is_development=arguments.development,
            results=results,
        )
    )


def _check(option: str, given: list[str], known: list[str]) -> None:
    """Refuse names that are not known."""
    unknown = [name for name in given if name not in known]
    if unknown:
        raise SystemExit(f"{option} must be among {', '.join(known)}, got {', '.join(unknown)}.")


if __name__ == "__main__":
    main()
