PYTHON ?= python3
BIN := .venv/bin
READY := .venv/.ready

.PHONY: demo test lint clean

demo: $(READY)  ## sample a BFS problem, print its trace, and verify BFS compiled into weights
	@$(BIN)/algoscope sample bfs --size 8 --count 1 --seed 7
	@$(BIN)/algoscope verify bfs --size 16 --count 64

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
