# SPDX-License-Identifier: Apache-2.0
# Everything happens in a virtual environment of the project's own. Needed on the machine: Python 3.11
# or newer with venv and pip, make, and a C++20 compiler; the rest (cmake and ninja too) comes from pip.
#
#   make test ARGS="-k twa"                            arguments for pytest, fairlock bench short or fairlock check
#   make test WORKERS=0 ARGS=--pdb                     one test after the other, and not two files at a time
#   make test PYTHON=python3.13 VENV=.venv-3.13        another Python, beside the first
#   make test FAIRLOCK_NO_SYSTEM_PACKAGES=1            never call apt-get

PYTHON ?= python3
VENV ?= .venv
ARGS ?=
WORKERS ?= 2

BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check
# Without isolation: the environment has the tools of the build, and pip need not install them for each one.
INSTALL = $(RUN) $(PIP) install --quiet --no-build-isolation --no-deps
# The tools of the environment first, so that tests and benchmarks find its cmake and ninja.
RUN := PATH="$(abspath $(BIN)):$$PATH"

# Many tests wait, or keep one processor busy. A file's tests stay together: what they build is built once.
PYTEST = $(RUN) $(BIN)/pytest -n $(WORKERS) --dist loadfile

export FAIRLOCK_NO_SYSTEM_PACKAGES

.DEFAULT_GOAL := help
.PHONY: help build test test-python test-preload bench check docs soak lint clean system-packages

help: ## print this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-12s %s\n", $$1, $$2 }' $(firstword $(MAKEFILE_LIST))

build: $(VENV)/tools.stamp ## build the package and install it in the virtual environment
	@echo "building fairlock"
	@$(INSTALL) .
	@echo "building the lab"
	@$(INSTALL) --config-settings=cmake.define.FAIRLOCK_CHECKER=ON ./lab

test: system-packages build $(VENV)/lab.stamp $(VENV)/docs.stamp $(VENV)/release.stamp ## set everything up and run all tests
	@$(PYTEST) $(ARGS)

test-python: $(VENV)/tools.stamp ## build and test the Python types alone (PYTHON=python3.x VENV=.venv-3.x for another Python)
	@echo "building fairlock"
	@$(INSTALL) .
	@$(PYTEST) tests/python $(ARGS)

test-preload: build $(VENV)/lab.stamp ## set up the programs too, and run all tests of `fairlock run`, on real programs for half an hour
	@tools/system-packages preload || true
	@$(RUN) $(BIN)/pytest -m "" tests/preload $(ARGS)

# On a fresh machine this is the first that people try: it builds only what it needs. A checker that was built stays.
with_checker = $(if $(wildcard $(VENV)/lib/python*/site-packages/fairlock_lab/_native.*.so),ON,OFF)

bench: $(VENV)/build.stamp $(VENV)/lab.stamp ## set up what it takes, and find out which lock is best on this machine
	@tools/system-packages bench || true
	@echo "building fairlock"
	@$(INSTALL) .
	@$(INSTALL) --config-settings=cmake.define.FAIRLOCK_CHECKER=$(with_checker) ./lab
	@$(RUN) $(BIN)/fairlock bench short $(ARGS)

check: build ## explore every lock with the model checker (fairlock check)
	@$(BIN)/fairlock check $(ARGS)

docs: build $(VENV)/docs.stamp ## build the documentation: build/docs/index.html
	@$(BIN)/sphinx-build --fail-on-warning --keep-going --quiet --fresh-env docs build/docs $(ARGS)
	@echo "build/docs/index.html"

soak: $(VENV)/tools.stamp ## every lock under every policy with random timeouts and interrupts, for two hours (ARGS=SECONDS)
	@$(RUN) cmake -S . -B build/soak -G Ninja -DCMAKE_BUILD_TYPE=Release -DFAIRLOCK_TESTS=ON -DFAIRLOCK_PYTHON=OFF -DFAIRLOCK_INSTALL=OFF > /dev/null
	@$(RUN) cmake --build build/soak --target fairlock_soak > /dev/null
	@build/soak/tests/soak/fairlock_soak $(ARGS)

lint: $(VENV)/tools.stamp $(VENV)/docs.stamp ## check style and types of the Python code (ruff, mypy --strict)
	@$(BIN)/ruff check .
	@$(BIN)/mypy

clean: ## remove the virtual environment and everything that was built
	rm -rf build build-* dist $(VENV) .pytest_cache .mypy_cache .ruff_cache
	find docs examples fairlock lab tests tools -name __pycache__ -prune -exec rm -rf {} + 2>/dev/null || true

system-packages:
	@tools/system-packages || true

$(VENV)/bin/python:
	@echo "creating $(VENV)"
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "fairlock needs Python 3.11 or newer; choose one with: make PYTHON=python3.x")'
	@$(PYTHON) -m venv $(VENV) || { rm -rf $(VENV); echo "could not create $(VENV) (on Debian: apt install python3-venv)" >&2; exit 1; }

# What the build and the tests need is listed in pyproject.toml, and only there.
define REQUIREMENTS
import sys, tomllib
print(*tomllib.load(open("pyproject.toml", "rb"))["dependency-groups"][sys.argv[1]], sep="\n")
endef
export REQUIREMENTS

$(VENV)/build.stamp: pyproject.toml | $(VENV)/bin/python
	@echo "installing the tools of the build in $(VENV)"
	@$(BIN)/python -c "$$REQUIREMENTS" build > $(VENV)/build.txt
	@$(PIP) install --quiet -r $(VENV)/build.txt
	@touch $@

$(VENV)/tools.stamp: $(VENV)/build.stamp $(VENV)/dev.stamp
	@touch $@

# The same for the optional dependencies, which not every command needs.
$(VENV)/dev.stamp $(VENV)/lab.stamp $(VENV)/docs.stamp $(VENV)/release.stamp: $(VENV)/%.stamp: pyproject.toml | $(VENV)/build.stamp
	@echo "installing the tools of '$*' in $(VENV)"
	@$(BIN)/python -c "$$REQUIREMENTS" $* > $(VENV)/$*.txt
	@$(PIP) install --quiet -r $(VENV)/$*.txt
	@touch $@
