"""Text: tell from a piece of source code which package of Python's standard library it belongs to.

Rows are pieces of `CHUNK_LINES` lines, classes are folders; the pieces of a file are on one side of a split. Depends
on the version of Python. Words of a package's own name are left in: they are what a reader would look for.
"""

import sysconfig
from pathlib import Path

import numpy as np
from sklearn.feature_extraction.text import TfidfVectorizer

from benchmarks.panel.splits import Table, pooled

CHUNK_LINES = 20
MIN_FILES = 5
N_CLASSES = 20
N_COLUMNS = 20_000


def standard_library(seed: int) -> Table:
    """Return pieces of source code; columns are TF-IDF of words, chosen on training rows."""
    texts, labels, groups = [], [], []
    n_files = 0
    for label, (_, paths) in enumerate(_packages()):
        for path in paths:
            for text in _chunks(path):
                texts.append(text)
                labels.append(label)
                groups.append(n_files)
            n_files += 1
    return Table(np.array(texts, dtype=object), np.array(labels), groups=np.array(groups), shape=tf_idf)


def standard_library_pooled(seed: int) -> Table:
    """Pieces of a file are on both sides of a split."""
    return pooled(standard_library(seed))


def tf_idf(train, test):
    """Return TF-IDF matrices of words of two or more letters; the words are those of the training rows."""
    vectorizer = TfidfVectorizer(max_features=N_COLUMNS, sublinear_tf=True)
    return vectorizer.fit_transform(train), vectorizer.transform(test)


def _packages() -> list[tuple[str, list[Path]]]:
    """Return the folders with most source code, and their files."""
    root = Path(sysconfig.get_paths()["stdlib"])
    folders: dict[str, list[Path]] = {}
    for path in sorted(root.rglob("*.py")):
        *parents, _ = path.relative_to(root).parts
        if "site-packages" in parents or "__pycache__" in parents:
            continue
        # The tests of a package are a package of their own; single test files are left out.
        name = "/".join(parents[:2]) if parents[:1] == ["test"] else "".join(parents[:1])
        if name not in ("", "test"):
            folders.setdefault(name, []).append(path)
    sizes = {name: sum(path.stat().st_size for path in paths) for name, paths in folders.items()}
    names = sorted((name for name in folders if len(folders[name]) >= MIN_FILES), key=lambda name: -sizes[name])
    return [(name, folders[name]) for name in sorted(names[:N_CLASSES])]


def _chunks(path: Path) -> list[str]:
    """Return the pieces of a file that have words."""
    lines = path.read_text(encoding="utf-8", errors="replace").splitlines()
    pieces = ["\n".join(lines[start : start + CHUNK_LINES]) for start in range(0, len(lines), CHUNK_LINES)]
    return [piece for piece in pieces if sum(character.isalpha() for character in piece) >= 40]
