# SPDX-License-Identifier: Apache-2.0
# Each target installs what it needs in a virtual environment. The machine needs only git, make, a C++20 compiler, and
# Python 3.11 or newer with venv and pip. Everything else, even cmake and ninja, comes from pip.
#
#   make test ARGS="-k twa"                        pass arguments on, here to pytest
#   make test WORKERS=0 ARGS=--pdb                 run one test at a time
#   make test PYTHON=python3.13 VENV=.venv-3.13    use another Python, beside the first
#   make test FAIRLOCK_NO_SYSTEM_PACKAGES=1        never call apt-get

PYTHON ?= python3
VENV ?= .venv
ARGS ?=
WORKERS ?= 4

BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check
# Tests, benchmarks and builds use the cmake and ninja of the environment.
RUN := PATH="$(abspath $(BIN)):$$PATH"
# Builds use the tools of the environment. With build isolation, pip would install them again for each build.
INSTALL := $(RUN) $(PIP) install --quiet --no-build-isolation --no-deps
# There are more workers than processors, because many tests wait. Workers share their builds (tests/conftest.py).
PYTEST := $(RUN) $(BIN)/pytest -n $(WORKERS) --dist worksteal

# A compiler cache, if there is one, saves most of the time of a build in a new clone.
ifneq ($(shell command -v ccache),)
export CMAKE_C_COMPILER_LAUNCHER ?= ccache
export CMAKE_CXX_COMPILER_LAUNCHER ?= ccache
export CCACHE_NOHASHDIR ?= 1
endif
export FAIRLOCK_NO_SYSTEM_PACKAGES

.DEFAULT_GOAL := help
.PHONY: help build test test-all test-python test-preload bench check docs soak lint format wheels clean
.PHONY: packages-bench packages-test packages-all packages-preload

help: ## print this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-12s  %s\n", $$1, $$2 }' $(firstword $(MAKEFILE_LIST))

# --- build and run ---

# Build both at the same time: each build ends with a file that keeps only one processor busy.
define INSTALL_BOTH
@echo "building fairlock and the lab"
@{ $(INSTALL) $(1) . & product=$$!; $(INSTALL) $(2) ./lab; lab=$$?; wait $$product && exit $$lab; }
endef

build: $(VENV)/build.stamp $(VENV)/lab.stamp ## build fairlock and the lab, and install both in .venv
	$(call INSTALL_BOTH,,$(addprefix --config-settings=cmake.define.,FAIRLOCK_CHECKER=ON FAIRLOCK_LAB_PRELOAD=ON))

# This is often the first command on a new machine, so it builds only what it runs. It keeps what is already built.
built = $(if $(wildcard $(VENV)/lib/python*/site-packages/$(1)),ON,OFF)

bench: packages-bench $(VENV)/build.stamp $(VENV)/lab.stamp ## find out which lock is best on this machine
	$(call INSTALL_BOTH,--config-settings=cmake.define.FAIRLOCK_PRELOAD=$(call built,fairlock/preload),\
	    --config-settings=cmake.define.FAIRLOCK_CHECKER=$(call built,fairlock_lab/_native.*.so) \
	    --config-settings=cmake.define.FAIRLOCK_LAB_PRELOAD=$(call built,fairlock_lab/preload))
	@$(RUN) $(BIN)/fairlock bench short $(ARGS)

check: build ## check every lock with the model checker
	@$(BIN)/fairlock check $(ARGS)

docs: build $(VENV)/docs.stamp ## build the documentation: build/docs/index.html
	@$(BIN)/sphinx-build --fail-on-warning --keep-going --quiet --fresh-env docs build/docs $(ARGS)
	@echo "build/docs/index.html"

# --- test ---

TEST_TOOLS := $(VENV)/test.stamp $(VENV)/docs.stamp $(VENV)/lint.stamp $(VENV)/release.stamp

test: packages-test build $(TEST_TOOLS) ## run the tests, in at most 10 minutes
	@$(PYTEST) $(ARGS)

test-all: packages-all build $(TEST_TOOLS) $(VENV)/exhaustive.stamp ## run all tests, in at most 45 minutes
	@$(PYTEST) -m "not preload" $(ARGS)

test-python: $(VENV)/build.stamp $(VENV)/test.stamp ## build and test only the Python types
	@echo "building fairlock"
	@$(INSTALL) .
	@$(PYTEST) -m "" tests/python $(ARGS)

test-preload: packages-preload build $(VENV)/test.stamp ## test `fairlock run` with real programs, for half an hour
	@$(RUN) $(BIN)/pytest -m "" tests/preload $(ARGS)

soak: $(VENV)/build.stamp ## stress every lock under every policy for two hours (ARGS=SECONDS)
	@$(RUN) cmake -S . -B build/soak -G Ninja -DCMAKE_BUILD_TYPE=Release -DFAIRLOCK_TESTS=ON -DFAIRLOCK_PYTHON=OFF \
	    -DFAIRLOCK_INSTALL=OFF > /dev/null
	@$(RUN) cmake --build build/soak --target fairlock_soak > /dev/null
	@build/soak/tests/soak/fairlock_soak $(ARGS)

# --- check and release ---

LINT_TOOLS := $(VENV)/lint.stamp $(VENV)/lab.stamp $(VENV)/docs.stamp

lint: $(LINT_TOOLS) ## check formatting, style, types, spelling, licences and sizes
	@$(RUN) tools/lint

format: $(LINT_TOOLS) ## format the C++ and Python code
	@$(RUN) tools/lint --format

wheels: $(VENV)/build.stamp $(VENV)/release.stamp ## build, repair and test a wheel for each Python here: dist/
	@$(RUN) $(BIN)/python tools/build_wheels.py $(ARGS)

clean: ## remove .venv and everything that was built
	rm -rf build build-* dist $(VENV) .pytest_cache .mypy_cache .ruff_cache
	find docs examples fairlock lab tests tools -name __pycache__ -prune -exec rm -rf {} + 2>/dev/null || true

# --- what the targets need ---

# These come before the build, because the build looks for libraries to compare with.
packages-bench packages-test packages-all packages-preload: packages-%:
	@tools/system-packages $*

$(VENV)/bin/python:
	@echo "creating $(VENV)"
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and \
	    "fairlock needs Python 3.11 or newer; choose one with: make PYTHON=python3.x")'
	@$(PYTHON) -m venv $(VENV) || \
	    { rm -rf $(VENV); echo "could not create $(VENV) (on Debian: apt install python3-venv)" >&2; exit 1; }

# pyproject.toml alone lists what each target needs, in groups.
define REQUIREMENTS
import sys, tomllib
print(*tomllib.load(open("pyproject.toml", "rb"))["dependency-groups"][sys.argv[1]], sep="\n")
endef
export REQUIREMENTS

# Without bytecode: Python writes it for the modules that it imports, and nothing uses most of the others.
$(VENV)/%.stamp: pyproject.toml | $(VENV)/bin/python
	@echo "installing the $* tools in $(VENV)"
	@$(BIN)/python -c "$$REQUIREMENTS" $* > $(VENV)/$*.txt
	@$(PIP) install --quiet --no-compile -r $(VENV)/$*.txt
	@touch $@
