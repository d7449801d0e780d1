PYTHON ?= python3
BIN := .venv/bin
PIP := $(BIN)/pip install --quiet --disable-pip-version-check --constraint constraints.txt
FAST := tests/verbs/test_command_line.py tests/verbs/test_tasks.py tests/verbs/test_train_and_runs.py \
	tests/runs tests/docs tests/tasks/test_features.py tests/programs/test_parser.py \
	tests/networks/test_weights.py tests/test_markup.py

.PHONY: help demo test check lint clean

help:  ## this list
	@sed -nE 's/^([a-z]+):.*## (.*)/make \1\t\2/p' Makefile

demo: .venv/.demo  ## the main job on two cores: compile BFS, verify, train, measure, runs/demo/report.html
	@$(BIN)/algoscope demo

test: lint  ## everything that CI checks
	$(BIN)/pytest --numprocesses=auto --dist=worksteal

check: lint  ## lint, types and the fast tests: under two minutes on two cores
	$(BIN)/pytest --numprocesses=auto --dist=worksteal $(FAST)

lint: .venv/.tests  ## formatting, types and the direction of imports
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/pyright
	$(BIN)/lint-imports

clean:  ## remove the virtual environment
	rm -rf .venv

# 1.0 GB, of which jaxlib 350 MB; dm-clrs takes 2.9 GB. The tests bring it to 3.5 GB.
.venv/.demo: pyproject.toml constraints.txt
	@echo "setting up .venv: JAX, numba, DuckDB, matplotlib; 1.0 GB, about a minute"
	@$(PYTHON) -m venv .venv
	@$(PIP) --editable .
	@touch $@

.venv/.tests: .venv/.demo
	@echo "adding what tests need: torch, PyTorch Geometric, inspect_ai, Ray, pyright; 2.5 GB, some minutes"
	@$(PIP) torch
	@$(PIP) --editable '.[dev]'
	@touch $@
