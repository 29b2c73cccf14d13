"""`craftmaps demo`: compare maps on handwritten digits, and leave a report, a model and a page to draw on."""

import csv
import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from craftmaps._system.atomic_files import new_file
from craftmaps.cli.files import writing
from craftmaps.cli.options import Json, option, whole_number
from craftmaps.cli.terminal import print_facts, print_json, print_table, say, words


def demo(
    out: Annotated[Path, typer.Option(metavar="DIR", help="Folder to write to; created if missing.")] = Path("demo"),
    components: Annotated[Any, option(whole_number(16, 1024), "E", "Width of every map.")] = 256,
    seeds: Annotated[Any, option(whole_number(1, 20), "N", "Number of seeds.")] = 3,
    as_json: Json = False,
) -> None:
    """Compare maps on handwritten digits.

    The exact kernel and a support vector machine are measured too. A model, a report page and a page that predicts
    what you draw are written.

    Example: craftmaps demo --out demo
    """
    from craftmaps import datasets, load_model
    from craftmaps.cli.data_files import write_rows
    from craftmaps.export import page
    from craftmaps.report.comparison import UP_FACTOR, makers, measure_exact, measure_map

    out.mkdir(parents=True, exist_ok=True)
    digits = datasets.load("digits")
    digits = digits._replace(X_train=digits.X_train.astype("float32"), X_test=digits.X_test.astype("float32"))
    say(
        f"Learning {digits.y_train.size:,} digits of 8 x 8 pixels with the kernel (x.y + 1)^7,\n"
        f"{components} features, Craft from {UP_FACTOR * components:,}. Errors are on {digits.y_test.size} others.\n"
        "The first run compiles the loops, for up to a minute."
    )
    methods = []
    for name, make in makers(components).items():
        say(f"  {name} ...")
        methods.append(measure_map(name, make, digits, seeds).to_plain())
    say("  the exact kernel ...")
    methods += [method.to_plain() for method in measure_exact(digits)]
    _write_csv(out / "comparison.csv", methods)
    train = write_rows(out, "digits-train", digits.X_train, digits.y_train)
    test = write_rows(out, "digits-test", digits.X_test, digits.y_test)
    say("  a model with kernel and metric chosen automatically ...")
    summary = _train(train, test, out / "digits.craft", out / "index.html", components)
    page(load_model(out / "digits.craft"), out / "draw.html", X_test=digits.X_test, y_test=digits.y_test)
    if as_json:
        print_json({"methods": methods, "model": summary})
        return
    print()
    _print_methods(methods)
    print()
    _print_model(summary, out)
    _print_next(train, test, out)


def _train(train: Path, test: Path, out: Path, report: Path, components: int) -> dict[str, Any]:
    """Train as `craftmaps train` does; return the summary."""
    from craftmaps.cli.training import Training
    from craftmaps.cli.training_rows import TrainingRows

    rows = TrainingRows(str(train), {"target": "label"})
    parameters = {"kernel": "auto", "metric": "auto", "n_components": components, "random_state": 0}
    budget = rows.budget(None, components, is_automatic=True)
    rows.fit_in(budget)
    training = Training(rows, parameters, budget)
    training.learn(every=100_000)
    training.save(out)
    training.test(rows.open_test(str(test)), keeps_examples=True)
    command = f"craftmaps train {train} --test {test} --components {components} --out {out} --report {report}"
    training.write_report(report, data="digits", command=command)
    return training.summary()


def _write_csv(path: Path, methods: list[dict[str, Any]]) -> None:
    """Write the comparison, unrounded."""
    with writing(path), new_file(path) as new, new.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, list(methods[0]))
        writer.writeheader()
        writer.writerows(methods)


def _print_methods(methods: list[dict[str, Any]]) -> None:
    """Print the comparison."""
    from craftmaps.report.html.wording import duration, memory

    rows = [
        [
            line["method"],
            _spread(line["kernel_error"], line["kernel_error_sd"]) if line["kernel_error"] else "exact",
            f"{_spread(100 * line['test_error'], line['test_error_sd'] and 100 * line['test_error_sd'], 1)} %",
            words(duration(line["train_seconds"])),
            words(duration(line["predict_seconds"])),
            words(memory(line["model_bytes"])),
        ]
        for line in methods
    ]
    print_table(["method", "kernel error", "test error", "train", "predict", "model"], rows)


def _spread(mean: float, deviation: float | None, decimals: int = 3) -> str:
    """Format a mean and a standard deviation."""
    return f"{mean:.{decimals}f}" + ("" if deviation is None else f" ± {deviation:.{decimals}f}")


def _print_model(summary: dict[str, Any], out: Path) -> None:
    """Print the error of the model and the files written."""
    from craftmaps.cli.description import error_text

    model = summary["model"]
    print_facts(
        [
            ("model", f"{model['path']}: {model['kernel']}, {model['metric']}"),
            ("test", words(error_text(summary["test"]))),
            ("report", f"{out / 'index.html'} (open it in a browser)"),
            ("page", f"{out / 'draw.html'} (draw a digit; the model runs in the browser)"),
            ("table", str(out / "comparison.csv")),
        ]
    )


def _print_next(train: Path, test: Path, out: Path) -> None:
    """Print three commands to try."""
    program, here = Path(sys.executable).with_name("craftmaps"), Path.cwd()
    name = program.relative_to(here) if program.is_relative_to(here) else "craftmaps"
    print("\nNext:")
    print(f"  {name} evaluate {out / 'digits.craft'} {test}")
    print(f"  {name} predict {out / 'digits.craft'} {test} --out {out / 'predictions.csv'}")
    print(f"  {name} train {train} --components 1024 --out {out / 'wide.craft'}")
