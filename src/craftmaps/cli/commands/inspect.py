"""`craftmaps inspect`: describe a model file."""

from typing import Annotated, Any

import typer

from craftmaps.cli.description import describe, model_facts
from craftmaps.cli.options import Json, Model
from craftmaps.cli.terminal import print_facts, print_json, print_table, words


def inspect(
    model: Model,
    columns: Annotated[bool, typer.Option("--columns", help="List the columns of the rows.")] = False,
    as_json: Json = False,
) -> None:
    """Describe a model file.

    Example: craftmaps inspect model.craft
    """
    from craftmaps.cli.model_rows import columns_of, read_model
    from craftmaps.report.html.wording import memory

    learned = read_model(model)
    rule = columns_of(learned)
    described = describe(learned, model, rule.target)
    if as_json:
        print_json(described | {"rule": rule.to_plain()})
        return
    print_facts(
        [
            ("model", words(f"{model}, {memory(described['bytes'])}")),
            *model_facts(described),
            ("columns", _listed(rule)),
        ]
    )
    if columns:
        print()
        rows = [[column.name, column.kind, f"{column.width:,}", f"{column.missing:,}"] for column in rule.features]
        print_table(["column", "kind", "features", "missing"], rows, n_left=2)


def _listed(rule: Any) -> str:
    """Format the first few names of columns."""
    names = [column.name if column.width == 1 else f"{column.name} ({column.width:,})" for column in rule.features]
    return ", ".join(names[:6]) + (f" and {len(names) - 6:,} more" if len(names) > 6 else "")
