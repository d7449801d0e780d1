PYTHON ?= python3
BIN := .venv/bin
READY := .venv/.ready

.PHONY: demo test lint clean

demo: $(READY)  ## the main job on two cores: compile BFS, verify, train, measure, runs/demo/report.html
	@$(BIN)/algoscope demo

test: lint  ## everything that CI checks
	$(BIN)/pytest --numprocesses=auto --dist=worksteal

lint: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/pyright
	$(BIN)/lint-imports

$(READY): pyproject.toml constraints.txt
	$(PYTHON) -m venv .venv
	$(BIN)/pip install --quiet --disable-pip-version-check --constraint constraints.txt torch
	$(BIN)/pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable '.[dev]'
	@touch $@

clean:
	rm -rf .venv
