# Every target sets up .venv by itself the first time, and again when pyproject.toml changes. That
# compiles the kernels; those that were edited since are compiled again before anything runs.
#
#   make run     what rules change in a sentence; then all methods on one set of sentences, in one
#                table and on a page, report/index.html
#   make test    all tests, then those of kernels and small golden arrays once more as plain Python
#   make build   compile the kernels that changed
#   make bounds  the kernels' tests with every index checked, in a copy that is built for it
#   make sanitize   the same under GCC's address sanitizer
#   make check   style, types, import order and documentation
#   make integrations   the adapters and their examples against the real packages
#   make network   an example with a real network, on conll04 in ROTE_DATA
#   make bench   rote beside other solvers, as ratios
#   make docs    the documentation, as pages in site/, and what whole runs found, site/results.html
#   make coverage   what the tests of kernels do not reach
#   make clean   remove .venv and everything that was built

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

# Data sets lie beside the checkout on some machines; a ROTE_DATA of your own always wins.
ifeq ($(origin ROTE_DATA),undefined)
ifneq ($(wildcard ../shared/data/.),)
export ROTE_DATA := $(abspath ../shared/data)
endif
endif

# Material for MkDocs would print an advertisement with every build.
export NO_MKDOCS_2_WARNING := 1

# The extras of the target are in EXTRAS: as an argument of a call they would end at their first comma.
define install
@command -v $(PYTHON) >/dev/null || \
	{ echo "rote needs Python 3.11 or newer, and there is no $(PYTHON) here; say which to use: make PYTHON=..." >&2; exit 1; }
@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	{ echo "rote needs Python 3.11 or newer, and $(PYTHON) is $$($(PYTHON) --version 2>&1); say which to use: make PYTHON=python3.11" >&2; exit 1; }
@echo "Setting up $(VENV) and compiling the kernels, which takes a minute ..."
@test -x $(BIN)/pip || $(PYTHON) -m venv --clear $(VENV)
@$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable ".[$(EXTRAS)]" --editable ./papers
@touch $@ $(VENV)/.installed
endef

# Kernels that changed are compiled; where that is not possible, some targets go on without.
define WHETHER_COMPILED
import sys, rote.kernels; \
sys.exit(None if rote.kernels.compiled() else 'the kernels are not compiled: install a C compiler, gcc or clang')
endef
compiled := $(BIN)/python -W ignore -c "$(WHETHER_COMPILED)"
compile := @$(compiled) 2>/dev/null || $(BIN)/python setup.py --quiet build_ext --inplace

.PHONY: run test build bounds sanitize coverage check integrations network bench docs clean
.NOTPARALLEL:

run: $(VENV)/.installed
	$(compile)
	@$(BIN)/rote demo
	@echo
	@echo "Now every method on one set of sentences."
	@$(BIN)/rote reproduce tour --out report
	@echo
	@$(BIN)/rote report report
	@echo
	@echo "Open report/index.html in a browser: the same as a page, with a figure. What next:"
	@echo "  - README.md tells how to use rote with rules and data of your own;"
	@echo "  - $(BIN)/rote report records --out results.html shows what whole runs on the real data sets found;"
	@echo "  - $(BIN)/rote reproduce --list names the papers' experiments, and --all --quick runs them."

build: $(VENV)/.installed
	$(compile)
	@$(compiled)

# Each worker takes a half of the tests in a row.
test: $(VENV)/.installed-dev
	$(compile)
	@$(compiled)
	$(BIN)/python -m pytest -n 2 --dist worksteal
	ROTE_PLAIN_KERNELS=1 $(BIN)/python -m pytest -n 2 --dist worksteal tests/kernels tests/test_golden.py

bounds sanitize: $(VENV)/.installed-dev
	$(BIN)/python -m tools.checked $@

# Which lines of the kernels' plain bodies no test of theirs reaches.
coverage: $(VENV)/.installed-dev
	ROTE_PLAIN_KERNELS=1 $(BIN)/python -m pytest -n 2 --cov=src/rote/kernels tests/kernels

# mkdocs is not told to be quiet: it would not count its own warnings then, and pass with them.
check: $(VENV)/.installed-dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/mkdocs build --strict

bench: $(VENV)/.installed-bench
	$(compile)
	$(BIN)/python -m benchmarks.cold_start
	$(BIN)/python -m benchmarks.import_time
	$(BIN)/python -m benchmarks.kernels
	$(BIN)/python -m benchmarks.one_off
	$(BIN)/python -m benchmarks.extraction
	$(BIN)/python -m benchmarks.exact_inference
	$(BIN)/python -m benchmarks.features
	$(BIN)/python -m benchmarks.training_speed
	$(BIN)/python -m benchmarks.svm_speed
	$(BIN)/python -m benchmarks.amortized
	$(BIN)/python -m benchmarks.reuse
	$(BIN)/python -m benchmarks.greedy
	$(BIN)/python -m benchmarks.threads
	$(BIN)/python -m benchmarks.serving

# Each example prints what an item costs beside its bar. Nothing is fetched while they run.
integrations network: export HF_HUB_OFFLINE := 1
integrations: $(VENV)/.installed-integrations
	$(compile)
	$(BIN)/python -m pytest tests/integrations
	@for example in examples/integrations/*.py; do \
		echo; echo "$$example"; $(BIN)/python $$example || exit 1; \
	done

network: $(VENV)/.installed-network
	$(compile)
	$(BIN)/python examples/network/conll04.py

docs: $(VENV)/.installed-dev
	$(BIN)/mkdocs build --strict
	$(BIN)/rote report records --out site/results.html

clean:
	rm -rf $(VENV) build dist site .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache .coverage
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
	find . -name '*.egg-info' -type d -prune -exec rm -rf {} +
	find src/rote/kernels \( -name '*.c' -o -name '*.so' -o -name _built.txt \) -delete

$(VENV)/.installed: EXTRAS := build,report
$(VENV)/.installed: pyproject.toml setup.py
	$(install)

$(VENV)/.installed-dev: EXTRAS := dev
$(VENV)/.installed-dev: pyproject.toml setup.py
	$(install)

$(VENV)/.installed-integrations: EXTRAS := integrations
$(VENV)/.installed-integrations: pyproject.toml setup.py
	$(install)

$(VENV)/.installed-network: EXTRAS := network
$(VENV)/.installed-network: pyproject.toml setup.py
	$(install)

$(VENV)/.installed-bench: EXTRAS := bench,build,report,serve
$(VENV)/.installed-bench: pyproject.toml setup.py
	$(install)
