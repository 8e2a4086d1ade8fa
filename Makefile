# Two commands do everything on a fresh machine with Python 3.11+ and make: `make demo` and `make test`.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
READY  := $(VENV)/.ready

.PHONY: demo test lint test-slow fuzz boundscheck mutants audit bench clean

demo: $(READY)
	$(BIN)/hushpath demo --out demo-out

test: $(READY) lint
	$(BIN)/python -m pytest -n 2

lint: $(READY)
	$(BIN)/ruff check .
	$(BIN)/mypy

test-slow: $(READY)
	$(BIN)/python -m pytest -m slow

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
	  tests/unit tests/conformance/test_engine.py tests/conformance/test_separator.py tests/conformance/test_rivals.py tests/fuzz

# Edits that would break privacy: a behavioural test must notice each.
mutants: $(READY)
	$(BIN)/python tests/mutants/run.py

# Claimed and attacked epsilon of every mechanism, and mechanisms broken on purpose.
audit: $(READY)
	$(BIN)/python tests/audit/report.py

bench: $(READY)
	$(BIN)/python bench/engine.py

$(READY): pyproject.toml constraints.txt
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "hushpath needs Python 3.11 or newer")'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[dev]'
	touch $@

clean:
	rm -rf $(VENV) demo-out build dist src/*.egg-info
