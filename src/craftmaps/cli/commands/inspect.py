"""`craftmaps inspect`: describe a model, a recipe or a tally."""

from pathlib import Path
from typing import Annotated, Any

import typer

from craftmaps.cli.description import describe, describe_tally, model_facts, tally_facts
from craftmaps.cli.options import Json
from craftmaps.cli.terminal import print_facts, print_json, print_table, words


def inspect(
    model: Annotated[
        Path,
        typer.Argument(metavar="FILE", help="A model, a recipe or a tally.", show_default=False),
    ],
    columns: Annotated[bool, typer.Option("--columns", help="List the columns of the rows.")] = False,
    as_json: Json = False,
) -> None:
    """Describe a model, a recipe or a tally.

    Example: craftmaps inspect model.craft
    """
    from craftmaps.cli.model_rows import columns_of, has_solution, has_tally, read_model
    from craftmaps.report.html.wording import memory

    learned = read_model(model)
    rule = columns_of(learned)
    tally = describe_tally(learned, learned.tally_, model, rule.target) if has_tally(learned) else None
    if tally is not None and not has_solution(model):
        described, facts = tally, tally_facts(tally)
    else:
        described = describe(learned, model, rule.target)
        facts = [("model", f"{model}, {memory(described['bytes'])}"), *model_facts(described)]
        facts += [] if tally is None else [("goes on", "yes: its tally is in the file")]
    if as_json:
        print_json(described | {"tally": tally, "rule": rule.to_plain()})
        return
    print_facts([(name, words(text)) for name, text in facts] + [("columns", _listed(rule))])
    if columns:
        print()
        rows = [[column.name, column.kind, f"{column.width:,}", f"{column.missing:,}"] for column in rule.features]
        print_table(["column", "kind", "features", "missing"], rows, n_left=2)


def _listed(rule: Any) -> str:
    """Format the first few names of columns."""
    names = [column.name if column.width == 1 else f"{column.name} ({column.width:,})" for column in rule.features]
    return ", ".join(names[:6]) + (f" and {len(names) - 6:,} more" if len(names) > 6 else "")
