# Every target sets itself up in .venv; a fresh machine needs python3, a C++ compiler and make.
PYTHON ?= python3
TORCH  ?= torch==2.13.0
ARGS   ?=

VENV := .venv
BIN  := $(VENV)/bin
PIP  := $(BIN)/python -m pip --disable-pip-version-check --quiet

# What the installed package is built from. Edits of Python files are seen without a build.
BUILD_INPUTS := pyproject.toml CMakeLists.txt $(wildcard src/bittrue/cpu/native/*)

INSTALLED := $(VENV)/.installed
PEERS     := $(VENV)/.peers

.DEFAULT_GOAL := check
.PHONY: demo test test-peers lint bench docs check quick clean

demo: $(INSTALLED)
	@# Status 1 says that departures were found: that is what the demonstration shows.
	$(BIN)/bittrue verify numpy || [ $$? -eq 1 ]

test: $(INSTALLED)
	$(BIN)/python -m pytest -n 2 $(ARGS)

test-peers: $(PEERS)
	$(BIN)/python -m pytest -n 2 -m peers $(ARGS)

lint: $(INSTALLED)
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy
	$(BIN)/lint-imports

bench: $(INSTALLED)
	$(BIN)/python benchmarks/run.py $(ARGS)

docs: $(INSTALLED)
	$(BIN)/python -m sphinx -W --keep-going -b html docs build/docs

check: lint test docs

# The checks that answer in seconds; stops at the first failing test.
quick: $(INSTALLED)
	$(BIN)/ruff check
	$(BIN)/mypy
	$(BIN)/python -m pytest -n 2 -q -x $(ARGS)

clean:
	rm -rf $(VENV) build src/bittrue/cpu/*.so
	rm -rf .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis .benchmarks
	find src tests benchmarks docs -name __pycache__ -prune -exec rm -rf {} + 2>/dev/null || true

$(VENV)/.created:
	$(PYTHON) -m venv --clear $(VENV)
	touch $@

# The build tools are installed beside the package, so that a second build in `build/` starts from
# the first; their list stays in pyproject.toml.
$(INSTALLED): $(VENV)/.created $(BUILD_INPUTS)
	$(PIP) install $$($(BIN)/python -c 'import tomllib; \
	    print(*tomllib.load(open("pyproject.toml", "rb"))["build-system"]["requires"])')
	$(PIP) install --no-build-isolation --editable '.[test,lint,docs,bench]'
	touch $@

# Asked for by its exact version: a bare `torch` takes the CUDA build, which is gigabytes.
$(PEERS): $(INSTALLED)
	$(PIP) install '$(TORCH)' onnxruntime onnx
	touch $@
