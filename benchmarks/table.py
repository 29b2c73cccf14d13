"""Print the results of benchmarks/maps.py as Markdown tables.

python benchmarks/table.py > benchmarks/README.md
"""

import json
from pathlib import Path
from typing import Any

RESULTS = Path(__file__).parent / "results" / "maps.json"


def flat(value: Any, prefix: str = "") -> list[tuple[str, str]]:
    """Turn nested results into (name, value) rows."""
    if isinstance(value, dict):
        return [row for key, inner in value.items() for row in flat(inner, f"{prefix}, {key}" if prefix else key)]
    if isinstance(value, list):
        return [(prefix, " ± ".join(f"{number:.4g}" for number in value))]
    return [(prefix, f"{value:.4g}" if isinstance(value, float) else str(value))]


def main() -> None:
    """Print one table for each part."""
    results = json.loads(RESULTS.read_text())
    print("# Benchmarks of the maps\n")
    print("Made by `python benchmarks/table.py` from `results/maps.json`, which `make bench` writes.\n")
    for name, part in results.items():
        where = part["environment"]
        versions = ", ".join(f"{package} {number}" for package, number in where["versions"].items())
        print(f"## {name}\n\n{part['about']}\n\n| what | value |\n|---|---|")
        for what, value in flat(part["result"]):
            print(f"| {what} | {value} |")
        print(
            f"\n{where['cpu']}, {where['cores']} cores, Python {where['python']}, {versions}, "
            f"commit {where['commit']}, {where['date']}\n"
        )


if __name__ == "__main__":
    main()
