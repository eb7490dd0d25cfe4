# Every target prepares .venv by itself; all that is needed is Python 3.11 or newer, git and make.
.PHONY: help demo demo-pages test check bench tables leaderboard paper vectors statistics load docs examples lock format clean ready ready-dev lint types imports unit tests transformer compat
.DEFAULT_GOAL := help

BIN := .venv/bin
JOBS ?= 2
# The first of these that runs and is new enough; a name on the path may be a stub for nothing.
PYTHONS ?= python3.11 python3.12 python3.13 python3.14 python3
PREPARE = for p in $(PYTHONS); do \
	  if "$$p" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then found=$$p; break; fi; \
	done; \
	if [ -z "$$found" ]; then \
	  echo "sparingly needs Python 3.11 or newer; none of these is: $(PYTHONS)." >&2; exit 2; \
	fi; "$$found" tools/prepare.py
# One thread per worker: the workers already fill the cores.
PYTEST = OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 POLARS_MAX_THREADS=2 $(BIN)/python -m pytest \
	--numprocesses $(JOBS) --dist worksteal
# $(call timed,name,command): run one phase and say how long it took.
timed = @echo "== $(1)"; start=$$(date +%s); $(2) && echo "== $(1): $$(( $$(date +%s) - start )) s"

help:  ## Say what there is to make
	@sed -n 's/^\([a-z-]*\):.*  ## /  make \1|/p' Makefile | awk -F'|' '{ printf "%-20s%s\n", $$1, $$2 }'

demo: ready  ## Do the main job on the data inside the package; leaves a report in sparingly-demo/
	@$(BIN)/sparingly demo
	@echo "Here sparingly is $(BIN)/sparingly; make demo-pages installs the pages."

demo-pages:  ## Judge some of the demo's outputs yourself, in the browser
	@$(PREPARE) --web
	@$(BIN)/sparingly demo --serve

# Each of the checks before the tests keeps one core busy, so they run two at a time.
test:  ## Check everything: style, types, imports, docs and every test
	$(call timed,set-up,$(MAKE) --no-print-directory ready-dev)
	$(call timed,style,$(MAKE) --no-print-directory lint)
	$(call timed,types and imports and docs and transformer,$(MAKE) --no-print-directory -j 2 --output-sync types imports docs transformer)
	@echo "== tests"
	@$(MAKE) --no-print-directory tests

check: lint types imports unit  ## Check what takes seconds: style, types, imports, unit and contract tests

bench: ready-dev  ## Measure speed and memory
	@$(BIN)/python -m benchmarks.run

tables: ready-dev  ## Compute the tables of docs/research/results.md from ../shared/data anew
	@$(BIN)/python -m benchmarks.results_page all

leaderboard: ready-dev  ## Play every method on every set of ../shared/data, and write the leaderboard into docs/ (an hour)
	@OMP_NUM_THREADS=1 $(BIN)/python -m benchmarks.leaderboard --jobs $(JOBS)

paper: ready-dev  ## Print one table or figure of a paper: make paper NAME=s0-table5; NAME=list names all
	@OMP_NUM_THREADS=1 $(BIN)/python -m benchmarks.paper $(or $(NAME),list) $(OPTIONS)

vectors: ready-dev  ## Compute the vectors of all-MiniLM-L6-v2 that tables of papers show beside n-grams (an hour)
	@$(BIN)/python tools/transformer_tests.py -m benchmarks.minilm

# Each keeps what is finished, so that an interrupted run goes on; one that misses its bar does not stop the others.
MEASURED := "default_coverage --docs --jobs $(JOBS)" "coverage_grid --docs" "false_separations --docs --jobs $(JOBS)" \
  "stopping --jobs $(JOBS)" "rounds_scores --jobs $(JOBS)" "labels_to_settle --jobs $(JOBS)" \
  "plan_holds --docs --jobs $(JOBS)" "best_calibration --docs --jobs $(JOBS)" irt_coverage
statistics: ready-dev  ## Run every statistical test, and compute the tables of coverage and decisions anew (hours; goes on)
	@$(PYTEST) -m statistics
	@missed=; for one in $(MEASURED); do \
	  OMP_NUM_THREADS=1 $(BIN)/python -m benchmarks.$$one || missed="$$missed $${one%% *}"; \
	done; test -z "$$missed" || { echo "Bars missed:$$missed" >&2; exit 1; }

load: ready-dev  ## Kill, fill and load campaigns on both databases and their web pages for long (twenty minutes)
	@PYTHONPATH=. OMP_NUM_THREADS=1 $(BIN)/python -m benchmarks.campaign_load
	@PYTHONPATH=. OMP_NUM_THREADS=1 $(BIN)/python -m benchmarks.serve_load
	@SPARINGLY_FAULT_POINTS=200 $(PYTEST) tests/run/campaign/faults

docs: ready-dev  ## Build the documentation into site/
	@$(BIN)/python tools/reference_pages.py
	@$(BIN)/zensical build --strict --clean

format: ready-dev  ## Format the code
	@$(BIN)/ruff check --fix --exit-zero --quiet .
	@$(BIN)/ruff format --quiet .

examples: ready-dev  ## Write what the examples print now into README.md and docs/
	@$(BIN)/python tools/doc_examples.py README.md docs/*.md docs/*/*.md

lock:  ## Resolve the dependencies anew into uv.lock (needs uv)
	@env -u PIP_FIND_LINKS -u PIP_EXTRA_INDEX_URL -u UV_INDEX -u UV_FIND_LINKS -u UV_EXTRA_INDEX_URL \
	  uv lock --no-config --default-index https://pypi.org/simple

clean:  ## Remove what was built, but keep .venv
	@rm -rf site $(addprefix docs/reference/,commands.md methods.md python.md) dist build sparingly-demo .cache .mypy_cache .ruff_cache .pytest_cache \
	  .import_linter_cache .hypothesis

ready:
	@$(PREPARE)

ready-dev:
	@$(PREPARE) --dev

lint: ready-dev
	@$(BIN)/ruff check --quiet .
	@$(BIN)/ruff format --check --quiet .

types: ready-dev
	@$(BIN)/mypy

imports: ready-dev
	@$(BIN)/lint-imports --no-cache

# Two processes, each with its half of the folders: collecting takes as long as running. The tests of benchmarks,
# and the slowest (tests/slow.txt), are left to the full run.
HALF := $(addprefix tests/,run choose data known_answers published signals bench)
LEFT_TO_TEST := $(addprefix tests/,benchmarks journeys statistics compat)
REST := $(filter-out $(HALF) $(LEFT_TO_TEST),$(patsubst %/,%,$(wildcard tests/*/))) $(wildcard tests/test_*.py)
UNIT = not slow and not statistics and not journey and not transformer and not compat
unit: ready-dev
	@printf '%s\n' '$(HALF)' '$(REST)' | OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 POLARS_MAX_THREADS=2 \
	  xargs -P 2 -I folders sh -c '$(BIN)/python -m pytest -q -m "$(UNIT)" folders'

tests: ready-dev
	@$(PYTEST) -m "not transformer and not compat"

compat: ready-dev  ## Exchange tasks and answers with the real annotation tools, each in an environment of its own
	@$(BIN)/python tools/compat.py

transformer: ready-dev  ## Test embedding with a real transformer, in an environment of its own
	@$(BIN)/python tools/transformer_tests.py
