# `make help` lists the targets. Each one first builds its prerequisites, once.
SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
MAKEFLAGS += --no-print-directory

PYTHON ?= python3
JOBS ?= $(shell nproc)
PYTEST ?= -q
# TORCH=2.7.1, PYTHON=python3.13: use this version, in a separate environment and build tree.
OTHER := $(if $(TORCH),-torch-$(TORCH))$(if $(filter-out python3,$(PYTHON)),-$(notdir $(PYTHON)))
BUILD := build/release$(OTHER)
VENV := $(if $(OTHER),.cache/venv$(OTHER),.venv)
BIN := $(VENV)/bin
STAMPS := .cache/stamps

# The variables of the activated environment, for programs that tests, demo and benchmarks start.
RUN := env VIRTUAL_ENV="$(abspath $(VENV))" PATH="$(abspath $(BIN)):$$PATH" LEAPP_BUILD="$(abspath $(BUILD))"

say = @printf '\033[1m== %s\033[0m\n'

help:  ## list the targets
	@grep -hE '^[a-z0-9-]+:.*  ## ' $(MAKEFILE_LIST) | sed -E 's/:.*  ## /\t/' | expand -t 14

build: setup  ## build everything and install the Python package into .venv
	@cmake --build $(BUILD) -j $(JOBS) --target leapp_package
	@$(MAKE) $(VENV)/.package

demo: build  ## export a policy pipeline, check it, draw it, run it from Python and from C++
	@cmake --build $(BUILD) -j $(JOBS) --target 06_robot_loop 08_go1_walks
	$(say) "demo"
	@$(RUN) examples/demo.sh

test: build  ## run the C++ and the Python tests (PYTEST="-k name" for some, TORCH=2.7.1 or PYTHON=python3.13 for another one)
	@cmake --build $(BUILD) -j $(JOBS)
	$(say) "C++ tests"
	@$(RUN) ctest --test-dir $(BUILD) --output-on-failure -j $(JOBS) --progress
	$(say) "Python tests"
	@$(RUN) $(BIN)/python -m pytest -n $(JOBS) --dist worksteal $(PYTEST) tests/python

test-long: build  ## run all cases of the random tests and of the fault injection
	@cmake --build $(BUILD) -j $(JOBS) --target controller_steps supervisor_steps faults_tests
	@$(RUN) LEAPP_LONG=1 $(BUILD)/bin/faults_tests --gtest_brief=1
	@$(RUN) LEAPP_LONG=1 $(BIN)/python -m pytest -n $(JOBS) --dist worksteal $(PYTEST) \
	  tests/python/test_controller_rules.py tests/python/test_supervisor_rules.py

test-aarch64: build  ## cross-build what a robot needs for ARM and run its tests under qemu
	@tools/apt_packages.sh aarch64
	@$(MAKE) .cache/aarch64/.stamp
	@cmake --preset aarch64 >/dev/null
	@cmake --build build/aarch64 -j $(JOBS)
	@cmake --build $(BUILD) -j $(JOBS) --target leapp_examples
	$(say) "C++ tests on aarch64"
	@ctest --preset aarch64 -j $(JOBS) --progress
	$(say) "the same results on aarch64"
	@$(RUN) LEAPP_AARCH64="$(abspath build/aarch64)" $(BIN)/python -m pytest $(PYTEST) tests/python/test_aarch64.py

wheel: build  ## build the wheels from scratch into build/wheels, as pip does, and test them in an empty root
	@$(BIN)/python -m pip install -q --disable-pip-version-check -r tools/requirements-wheel.txt
	@tools/wheels.sh $(BIN)/python build/wheels
	@$(RUN) LEAPP_WHEELS="$(abspath build/wheels)" $(BIN)/python -m pytest $(PYTEST) tests/python/test_wheel.py
	@tests/packaging/wheels.sh $(BIN)/python build/wheels

deb: $(STAMPS)/apt .cache/onnxruntime/.stamp  ## build the Debian packages into build/debs, and test them in an empty root
	@tools/apt_packages.sh deb
	@LDFLAGS="$$(dpkg-buildflags --get LDFLAGS)" cmake --preset deb >/dev/null
	@cmake --build build/deb -j $(JOBS) --target leapp_package
	@rm -rf build/debs; cd build/deb; cpack -G DEB -B ../debs >cpack.log || { cat cpack.log; exit 1; }
	@tests/packaging/debs.sh build/debs

bench: build  ## measure; compare with NVIDIA's leapp if it is installed
	@cmake --build $(BUILD) -j $(JOBS)
	@$(RUN) $(BIN)/python benchmarks/run.py

coverage: setup  ## show which branches of the core its tests cover
	@tools/apt_packages.sh coverage
	@cmake --preset coverage >/dev/null
	@$(RUN) $(BIN)/python tools/coverage.py build/coverage

opinfo: build  ## export PyTorch's whole operator database (BACKEND=jit, onnx or cpp)
	@$(RUN) $(BIN)/python tests/python/opinfo_sweep.py --backend $(or $(BACKEND),jit)

lint: build  ## check formats, types, layers, public headers, tests, the torch-free boundary
	@$(BIN)/python tools/lint.py --build $(BUILD)

format: $(VENV)/.stamp  ## format C++ and Python in place
	@git ls-files -co --exclude-standard '*.h' '*.c' '*.cpp' | xargs $(BIN)/clang-format -i
	@$(BIN)/ruff check --quiet --fix-only .
	@$(BIN)/ruff format --quiet .

tidy: setup  ## clang-tidy over every source (slow)
	@cmake --preset tidy >/dev/null
	@cmake --build build/tidy -j $(JOBS)

fuzz: setup  ## fuzz the readers of files for FUZZ_SECONDS each (60)
	@tools/apt_packages.sh fuzz
	@cmake --preset fuzz >/dev/null
	@cmake --build build/fuzz -j $(JOBS) --target leapp_fuzzers
	@tools/fuzz.sh build/fuzz $(or $(FUZZ_SECONDS),60)

docs: build  ## write the documentation site, with the references of both languages, to build/docs
	@tools/apt_packages.sh docs
	@tools/docs.sh build/docs

clean:  ## remove build trees and stamps (.venv and .cache/onnxruntime stay)
	@rm -rf build $(STAMPS)

# Prerequisites of a build, each made once: packages, environment, headers, configured tree.
setup: $(BUILD)/build.ninja

$(STAMPS)/apt: tools/apt_packages.sh
	$(say) "Debian packages"
	@tools/apt_packages.sh
	@mkdir -p $(@D) && touch $@

.cache/onnxruntime/.stamp: tools/onnxruntime_headers.sh $(STAMPS)/apt
	$(say) "ONNX Runtime headers"
	@tools/onnxruntime_headers.sh .cache/onnxruntime
	@touch $@

$(VENV)/.stamp: tools/requirements-torch.txt tools/requirements.txt $(STAMPS)/apt
	$(say) "Python environment in $(VENV) (PyPI's torch brings CUDA along: some GB)"
	@test -x $(BIN)/python || { $(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 10))' && \
	  $(PYTHON) -m venv $(VENV); } || \
	  { echo "Could not make $(VENV) with '$(PYTHON)': LEAPP needs Python 3.10 or newer with venv." >&2; exit 1; }
	@$(if $(TORCH),echo "torch==$(TORCH)",cat tools/requirements-torch.txt) >$(VENV)/torch.txt
	@$(BIN)/python -m pip install -q --disable-pip-version-check -r $(VENV)/torch.txt || \
	  { echo "pip could not install torch: is the network there?" >&2; exit 1; }
	@$(BIN)/python -m pip install -q --disable-pip-version-check \
	  -c $(VENV)/torch.txt -r <($(BIN)/python tools/requirements.py) || \
	  { echo "pip could not install tools/requirements.txt: is the network there?" >&2; exit 1; }
	@touch $@

.cache/aarch64/.stamp: tools/aarch64_sysroot.sh
	$(say) "libraries for aarch64"
	@PYTHON=$(BIN)/python tools/aarch64_sysroot.sh .cache/aarch64
	@touch $@

$(BUILD)/build.ninja: CMakePresets.json $(STAMPS)/apt .cache/onnxruntime/.stamp $(VENV)/.stamp
	$(say) "configure $(BUILD)"
	@cmake --preset release -B $(BUILD) -DPython_EXECUTABLE="$(abspath $(BIN))/python" | grep -v "Detecting\|identification\|Check for working"
	@touch $@

# Checked after the build: its outputs and the package's sources, including deleted ones.
PACKAGE := $(wildcard $(BUILD)/lib/*.so $(BUILD)/python/leapp/*.so $(BUILD)/bin/leapp) \
  $(shell find python/src include -not -name __pycache__ -not -name '*.pyc')
$(VENV)/.package: $(PACKAGE) CMakeLists.txt
	$(say) "install the Python package into $(VENV)"
	@site=$$($(BIN)/python -c 'import sysconfig; print(sysconfig.get_path("platlib"))'); \
	rm -rf "$$site"/leapp "$$site"/leapp-*.dist-info "$$site"/leapp_runtime-*.dist-info; \
	for component in python python_trace; do cmake --install $(BUILD) --component $$component --prefix "$$site" >/dev/null; done; \
	$(BIN)/python -m compileall -q "$$site"/leapp; \
	cmake --install $(BUILD) --component python_scripts --prefix $(BIN) >/dev/null; \
	printf '#!%s\nimport sys\nfrom leapp.integrations.__main__ import main\nsys.exit(main())\n' \
	  "$(abspath $(BIN))/python" >$(BIN)/leapp-export; chmod +x $(BIN)/leapp-export; \
	version=$$(sed -n 's/^project(leapp VERSION \([0-9.]*\).*/\1/p' CMakeLists.txt); \
	cd "$$site"; for name in leapp leapp_runtime; do \
	  info=$$name-$$version.dist-info; mkdir "$$info"; \
	  printf 'Metadata-Version: 2.1\nName: %s\nVersion: %s\n' "$${name/_/-}" "$$version" >"$$info/METADATA"; \
	  find "$$info" -type f -printf '%p,,\n' >"$$info/RECORD"; \
	done; \
	find leapp -type f -printf '%p,,\n' >>"leapp-$$version.dist-info/RECORD"
	@touch $@

.PHONY: help build demo test test-long test-aarch64 wheel deb bench coverage opinfo lint format tidy fuzz docs clean setup
