# Two commands do everything on a fresh machine with Python 3.11+ and make: `make demo` and `make test`.
PYTHON ?= python3
VENV   := .venv
SUB    := $(if $(filter Windows_NT,$(OS)),Scripts,bin)
BIN    := $(VENV)/$(SUB)
READY  := $(VENV)/.ready

.PHONY: demo test lint ruff mypy hooks examples test-lowest test-slow test-noise fuzz boundscheck mutants audit bench bench-scale bench-serve \
  bench-trips bench-page case-study accuracy docs docs-links dist test-dist clean

demo: $(READY)
	$(BIN)/hushpath demo --out demo-out

# Two workers share the cores already, so numpy starts no threads of its own.  One of the tests is mypy.
test: $(READY) ruff
	$(BIN)/python tests/browser/tools.py
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest -n 2

lint: ruff mypy

ruff: $(READY)
	$(BIN)/ruff check .

mypy: $(READY)
	$(BIN)/mypy

# What git runs before each commit, once `pre-commit install` has switched it on.
hooks: $(READY)
	$(BIN)/pre-commit run --all-files

examples: $(READY)
	$(BIN)/python -m pytest tests/contract/test_examples.py

# The lowest versions pyproject.toml allows, in an environment of their own. Old libraries may warn of their own age.
LOWEST := $(VENV)-lowest
test-lowest: $(LOWEST)/.ready
	NUMBA_CACHE_DIR=$(CURDIR)/$(LOWEST)/numba $(LOWEST)/$(SUB)/python -m pytest -n 2 -W default::DeprecationWarning \
	  tests/unit tests/statistical tests/properties tests/conformance/test_lab.py tests/conformance/test_mechanisms.py \
	  tests/conformance/test_readers.py tests/contract/test_cli.py tests/contract/test_docs.py tests/contract/test_doctests.py \
	  tests/contract/test_examples.py

test-slow: $(READY)
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest -n 2 -m slow

# The tests that draw fresh noise and could fail by chance, ten times: together less often than once in a hundred.
test-noise: $(READY)
	for run in 1 2 3 4 5 6 7 8 9 10; do $(BIN)/python -m pytest -m noise || exit 1; done

# The sdist and, made from it, the wheel; what lies in them is looked at.
dist: $(READY)
	rm -rf build/lib build/bdist.* dist src/*.egg-info
	$(BIN)/python -m build --outdir dist
	$(BIN)/python -m twine check --strict dist/*
	$(BIN)/python tests/wheel/check.py dist

# The wheel in empty environments, with each extra by itself: DIST="--python python3.13 --extras none,serve" asks for less.
test-dist: dist
	$(BIN)/python tests/wheel/install.py $(DIST)

# Hostile files: mutations of every seed, then libFuzzer with coverage as its guide (where atheris can be had).
FUZZ_SECONDS ?= 300
fuzz: $(READY)
	$(BIN)/python tests/fuzz/run.py
	-$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[dev,fuzz]'
	rm -rf $(VENV)/fuzz && mkdir $(VENV)/fuzz && cp tests/fuzz/corpus/*.hush $(VENV)/fuzz
	if $(BIN)/python -c 'import atheris'; then \
	  $(BIN)/python tests/fuzz/guided.py -max_total_time=$(FUZZ_SECONDS) -print_final_stats=1 $(VENV)/fuzz; fi

# Every compiled kernel with bounds checked; numba keeps such code in a cache of its own.
boundscheck: $(READY)
	NUMBA_BOUNDSCHECK=1 NUMBA_CACHE_DIR=$(CURDIR)/$(VENV)/boundscheck $(BIN)/python -m pytest -n 2 \
	  tests/unit tests/conformance/test_engine.py tests/conformance/test_separator.py tests/conformance/test_paper.py tests/conformance/test_rivals.py \
	  tests/fuzz

# Edits that would break privacy: a behavioural test must notice each.
mutants: $(READY)
	$(BIN)/python tests/mutants/run.py

# Claimed and attacked epsilon of every mechanism, and mechanisms broken on purpose.
audit: $(READY)
	$(BIN)/python tests/audit/report.py

# The documentation, into build/site: a warning or a link that leads nowhere is an error.
docs: $(READY)
	$(BIN)/python docs/site.py build/site

# The addresses of other sites, which need a network.
docs-links: $(READY)
	$(BIN)/python -m sphinx -q -b linkcheck -d build/links.work docs build/links

# Errors and coverage on the development pool, networks in HUSHPATH_DATA included; about an hour on two cores, resumes.
accuracy: $(READY)
	OMP_NUM_THREADS=1 $(BIN)/python bench/accuracy.py --pool development

# Travel times from totals of trips against simpler ways, on simulated cities and those in HUSHPATH_DATA; goes on where it was stopped.
bench-trips: $(READY)
	OMP_NUM_THREADS=1 $(BIN)/python bench/trip_protocol.py --pool development

# Four owners of real networks in HUSHPATH_DATA: what they would publish, how wrong it is; hours on two cores, goes on where it was stopped.
case-study: $(READY)
	OMP_NUM_THREADS=1 $(BIN)/python bench/case_study.py

# Opening a page of 100 000 edges and clicking on it, in headless chromium.
bench-page: $(READY)
	$(BIN)/python tests/browser/tools.py
	$(BIN)/python bench/page.py

# The real server on loopback: distances and cells per second, slow readers, memory.
bench-serve: $(READY)
	OMP_NUM_THREADS=1 $(BIN)/python bench/serve.py

# A thousand to a million nodes, a process per measurement, beside the rivals that are installed; SCALE=--huge adds 10^7 edges.
bench-scale: $(READY)
	$(BIN)/python bench/scale.py $(SCALE)

bench: $(READY)
	$(BIN)/python bench/engine.py

$(READY): pyproject.toml constraints.txt
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "hushpath needs Python 3.11 or newer")'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[dev]'
	touch $@

# The same tools, then every runtime dependency taken down to its floor.
$(LOWEST)/.ready: pyproject.toml constraints.txt constraints-lowest.txt
	$(PYTHON) -m venv $(LOWEST)
	$(LOWEST)/$(SUB)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[dev]'
	$(LOWEST)/$(SUB)/python -m pip install --quiet --disable-pip-version-check -r constraints-lowest.txt
	touch $@

clean:
	rm -rf $(VENV) $(LOWEST) demo-out build dist src/*.egg-info
