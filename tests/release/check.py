"""Build the wheel and the source distribution, look into both, and use each in a new environment.

    python -m tests.release.check                          # with this interpreter
    python -m tests.release.check python3.12 python3.13    # with others

It needs an index to install dependencies from, and takes some minutes; `make release-check` runs it.
"""

import email
import shutil
import subprocess
import sys
import tarfile
import tempfile
import tomllib
import zipfile
from pathlib import Path

ROOT = Path(__file__).parents[2]
# Fields of the metadata that must be there, and not empty.
FIELDS = ("Name", "Version", "Summary", "Author", "License-Expression", "Requires-Python", "Classifier", "Project-URL")
IN_WHEEL = ("craftmaps/py.typed", "craftmaps/__init__.py")
IN_SOURCE = ("pyproject.toml", "README.md", "LICENSE", "CITATION.cff", "CHANGELOG.md", "src/craftmaps/py.typed")
# What a user does first, with the dependencies of the package alone. The pages are read as data from the package.
USE = """
import sys, tempfile, pathlib
import numpy as np
from craftmaps import CraftClassifier, Polynomial, __version__, datasets, export, load_model
digits = datasets.load("digits")
model = CraftClassifier(Polynomial(3), 128, metric=None, random_state=0).fit(digits.X_train, digits.y_train)
assert model.score(digits.X_test, digits.y_test) > 0.95
with tempfile.TemporaryDirectory() as name:
    path = pathlib.Path(name) / "model.craft"
    model.save(path)
    assert np.array_equal(load_model(path).predict(digits.X_test), model.predict(digits.X_test))
    export.page(model, pathlib.Path(name) / "page.html")
    export.c_header(model, pathlib.Path(name) / "model.h")
assert not {"safetensors", "pandas", "pyarrow", "matplotlib", "onnx"} & set(sys.modules)
print(f"craftmaps {__version__} works on Python {sys.version.split()[0]}")
"""


def built(folder: Path) -> list[Path]:
    """Build both distributions into a folder."""
    subprocess.run([sys.executable, "-m", "build", "--outdir", folder, ROOT], check=True, stdout=subprocess.DEVNULL)
    found = sorted(folder.iterdir())
    if [path.suffix for path in found] != [".whl", ".gz"] and [path.suffix for path in found] != [".gz", ".whl"]:
        raise SystemExit(f"Expected a wheel and a source distribution, got {[path.name for path in found]}.")
    return found


def check_wheel(path: Path) -> None:
    """Refuse a wheel that lacks something, has what belongs elsewhere, or says too little of itself."""
    with zipfile.ZipFile(path) as archive:
        names = archive.namelist()
        [metadata] = [name for name in names if name.endswith(".dist-info/METADATA")]
        fields = email.message_from_bytes(archive.read(metadata))
    missing = [name for name in IN_WHEEL if name not in names]
    foreign = [name for name in names if not name.startswith(("craftmaps/", "craftmaps-"))]
    if missing or foreign:
        raise SystemExit(f"{path.name} lacks {missing} and must not hold {foreign}.")
    empty = [field for field in FIELDS if not fields.get_all(field)]
    if empty or not fields.get_payload():
        raise SystemExit(f"The metadata of {path.name} lacks {empty or 'a description'}.")
    if not any(name.endswith("licenses/LICENSE") for name in names):
        raise SystemExit(f"{path.name} lacks its licence.")


def check_source(path: Path) -> None:
    """Refuse a source distribution that lacks something."""
    with tarfile.open(path) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    missing = [name for name in IN_SOURCE if name not in names]
    if missing or not any(name.startswith("docs/") for name in names):
        raise SystemExit(f"{path.name} lacks {missing or 'docs'}.")


def check_versions(wheel: Path) -> None:
    """Refuse a citation file of another version."""
    version = wheel.name.split("-")[1]
    if f"version: {version}\n" not in (ROOT / "CITATION.cff").read_text():
        raise SystemExit(f"CITATION.cff must be of version {version}.")


def use(distribution: Path, python: str, folder: Path) -> None:
    """Install a distribution in a new environment and use it, away from the source."""
    subprocess.run([python, "-m", "venv", folder], check=True)
    here = folder / "bin" / "python"
    quiet = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    subprocess.run([here, *quiet, f"{distribution}[cli]"], check=True)
    subprocess.run([here, "-m", "pip", "check"], check=True, stdout=subprocess.DEVNULL)
    subprocess.run([here, "-I", "-c", USE], check=True, cwd=folder)
    subprocess.run([folder / "bin" / "craftmaps", "--help"], check=True, cwd=folder, stdout=subprocess.DEVNULL)


def main() -> None:
    """Check both distributions, with each of the interpreters given."""
    requires = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["requires-python"]
    pythons = [python for python in sys.argv[1:] or [sys.executable] if shutil.which(python)]
    for python in set(sys.argv[1:]) - set(pythons):
        print(f"not checked: there is no {python} (needs {requires})")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        source, wheel = sorted(built(folder / "dist"), key=lambda path: path.suffix)
        check_wheel(wheel)
        check_source(source)
        check_versions(wheel)
        print(f"{wheel.name}: {wheel.stat().st_size:,} bytes, {source.name}: {source.stat().st_size:,} bytes")
        for number, python in enumerate(pythons):
            use(wheel, python, folder / f"wheel-{number}")
        if pythons:
            use(source, pythons[0], folder / "source")


if __name__ == "__main__":
    main()
