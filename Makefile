# Every target sets up its own environment: `make demo` and `make test` work on a fresh clone.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
READY_DOCS := $(VENV)/.ready-docs
LOWEST := .venv-lowest

.PHONY: demo test test-lowest fuzz lint bench docs numbers release-check reproduce reproduce-all clean

demo: $(READY)
	$(BIN)/python examples/digits.py --out demo

# A worker for every core, each on one thread: more would wait for each other. Tests of threads ask for them. Tests
# are of unlike length: a worker without work takes them off another one.
test: lint
	CRAFTMAPS_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 $(BIN)/python -m pytest -n auto --dist worksteal

# The same tests with the lowest versions that pyproject.toml allows, in an environment of their own. What these need
# themselves is new: typer and matplotlib of that age are warned of what click and pyparsing deprecate today.
test-lowest: $(LOWEST)/.ready
	CRAFTMAPS_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 NUMBA_CACHE_DIR=$(LOWEST)/numba \
		$(LOWEST)/bin/python -m pytest -n auto --dist worksteal -p no:cacheprovider -W ignore::DeprecationWarning

# Mutated models, checkpoints, notes of runs and data files; a case that fails is printed with its number.
fuzz: $(READY)
	$(BIN)/python -m tests.faults.fuzzing --cases 10000

lint: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/pyright
	$(BIN)/lint-imports

bench: $(READY)
	$(BIN)/python benchmarks/maps.py
	$(BIN)/python benchmarks/learner.py
	$(BIN)/python benchmarks/table.py

reproduce: $(READY)
	$(BIN)/python -m reproduction --level hour --minutes 60 --results reproduction/own/results
	$(BIN)/python -m reproduction.page --level hour --results reproduction/own/results

reproduce-all: $(READY)
	$(BIN)/python -m reproduction
	$(BIN)/python -m reproduction.page

docs: $(READY_DOCS)
	$(BIN)/sphinx-build -W --keep-going -b html docs docs/_build/html

# Measured numbers of README.md and docs/, from the result files that docs/measured.toml names, and the picture.
numbers: $(READY)
	$(BIN)/python docs/measured.py --write
	$(BIN)/python docs/scoreboard.py

# The wheel and the source distribution are built, looked into, and used in environments of their own.
release-check: $(READY)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable ".[release]"
	$(BIN)/python -m tests.release.check $(or $(PYTHONS),$(PYTHON))

$(READY): pyproject.toml
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable ".[test]"
	touch $@

$(READY_DOCS): $(READY)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable ".[docs]"
	touch $@

# pip always takes the newest versions; uv can take the lowest of what this package names.
$(LOWEST)/.ready: pyproject.toml
	rm -rf $(LOWEST)
	$(PYTHON) -m venv $(LOWEST)
	$(LOWEST)/bin/python -m pip install --quiet --disable-pip-version-check uv
	$(LOWEST)/bin/uv pip install --quiet --python $(LOWEST)/bin/python --only-binary :all: --no-binary craftmaps --no-binary pyspark \
		--resolution lowest-direct --editable ".[test]"
	touch $@

clean:
	rm -rf $(VENV) $(LOWEST) demo dist docs/_build docs/gallery docs/reference/generated .pytest_cache .ruff_cache .import_linter_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
