# Short names for what one does with a clone; `make` alone lists them. CMake does the work.
JOBS ?= $(shell nproc)
PYTEST_ARGS ?=
BENCH_ARGS ?=
SECONDS ?= 600
SEEDS ?=
ENGINE ?= native
# Each job of the fuzzer keeps two or three processes busy.
FUZZ_JOBS ?= $(JOBS)
FUZZ_ARGS ?=
ROWS ?=
MUTATE_ARGS ?=
KERAS ?= 2.3.1
PACKAGES ?=
BENCH_PYTHON ?= .venv/bin/python

SETUP := .venv/.horngate-setup

.PHONY: help build demo test test-keras test-packages test-engines test-theano test-oracle fuzz fuzz-files mutate bench bench-keras bench-peers generate docs test-notebooks format asan tsan coverage reliability wheel test-wheel test-distributed clean
.DEFAULT_GOAL := help

help: ## list the targets
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:[^#]*## /\t/' | expand -t 13

$(SETUP): tools/setup.sh tools/requirements.txt
	@tools/setup.sh

# Ninja calls CMake by itself when a list of sources changes; a new .venv may hold new libraries.
build/build.ninja: CMakePresets.json $(SETUP)
	@cmake --preset release

build: $(SETUP) build/build.ninja ## build all: library, engines, command, Python module (first call sets up)
	@cmake --build build -j $(JOBS)

demo: $(SETUP) build/build.ninja ## build the library, then train a small network on handwritten digits
	@cmake --build build -j $(JOBS) --target cpp_digits
	@KERAS_HOME=build/keras HORNGATE_NO_CONFIG_WRITE=1 build/bin/cpp_digits

test: build ## build, then run every test: C++, installation, Python
	@tools/test.sh $(JOBS) $(PYTEST_ARGS)

test-keras: build ## run Keras's own tests on the module (KERAS=2.2.4: of another version)
	@.venv/bin/python tools/test_keras.py $(KERAS) --jobs $(JOBS)

test-packages: build ## run the own tests of packages built on Keras (PACKAGES="keras-rl": some; docs/packages.md)
	@.venv/bin/python tools/test_packages.py $(PACKAGES)

test-engines: build ## run every case on every engine that is installed (of theano a sample: test-theano)
	@KERAS_HOME=build/keras HORNGATE_NO_CONFIG_WRITE=1 HORNGATE_QUIET=1 \
	  HORNGATE_TEST_ENGINES="$$(.venv/bin/python tools/test_engines.py --others)" \
	  .venv/bin/python -m pytest tests/cases -q -rs -n $(JOBS) $(PYTEST_ARGS)

test-theano: build ## run every case on the theano engine (`make test` takes a sample of them)
	@KERAS_HOME=build/keras HORNGATE_NO_CONFIG_WRITE=1 HORNGATE_QUIET=1 HORNGATE_TEST_ENGINES=theano \
	  HORNGATE_TEST_ALL=1 .venv/bin/python -m pytest tests/cases -q -rs -n $(JOBS) $(PYTEST_ARGS)

test-notebooks: build ## run the notebooks of examples/notebooks in Jupyter's kernel (installs it into build/notebooks)
	@tools/notebooks.sh

test-distributed: build ## run ranks under each MPI library, with faults (installs the libraries into build/)
	@tools/test_distributed.sh $(PYTEST_ARGS)

test-oracle: build ## build, then compare each function with tf_keras on TensorFlow (installs them into build/)
	@tools/test_oracle.sh

fuzz: build ## hunt wrong numbers in random graphs (SECONDS=600, SEEDS=1-5000, ENGINE=onnx; tests/fuzz)
	@PYTHONPATH=tests KERAS_HOME=build/keras .venv/bin/python -m fuzz --engine $(ENGINE) \
	  $(if $(SEEDS),--seeds $(SEEDS),--seconds $(SECONDS)) --jobs $(FUZZ_JOBS) $(FUZZ_ARGS)

fuzz-files: $(SETUP) ## hunt faults in the readers of models' files, under sanitizers (SECONDS=600)
	@tools/fuzz_files.sh $(SECONDS) $(JOBS)

bench: build ## build and run the benchmarks (BENCH_ARGS="--threads 2"; BENCH_PYTHON: one that has peers)
	@cmake --build build -j $(JOBS) --target bench
	@$(BENCH_PYTHON) bench/run.py $(BENCH_ARGS)

bench-keras: build ## build, then time Keras 2.3.1 on our module beside tf_keras; memory and import too
	@tools/bench_keras.sh $(BENCH_ARGS)

bench-peers: build ## build, then time all workloads beside PyTorch, JAX, TensorFlow, ONNX Runtime (installs them into build/)
	@cmake --build build -j $(JOBS) --target bench_startup
	@tools/bench_peers.sh --write $(BENCH_ARGS)

mutate: build ## plant faults into a copy of the sources, one at a time, see what catches them (hours; MUTATE_ARGS="--only jit")
	@.venv/bin/python tools/mutate.py --jobs $(JOBS) $(MUTATE_ARGS)

generate: $(SETUP) ## write what is made from other files: stubs, binding, modules of engines, pages
	@.venv/bin/python tools/generate.py

docs: $(SETUP) ## build the site into build/docs/html: guide and reference (installs Doxygen, and Sphinx into build/docs)
	@tools/docs.sh

format: $(SETUP) ## put all C++ into the project's format
	@git ls-files --cached --others --exclude-standard '*.h' '*.cpp' | xargs -r .venv/bin/clang-format -i

asan: $(SETUP) ## C++ tests under the address and undefined-behaviour sanitizers
	@tools/sanitize.sh asan $(JOBS)

tsan: $(SETUP) ## C++ tests under the thread sanitizer
	@tools/sanitize.sh tsan $(JOBS)

coverage: $(SETUP) ## which lines and branches the tests reach
	@tools/coverage.sh $(JOBS)

reliability: build ## run the scorecard of docs/reliability.md, hours of it (ROWS="fork ctrl_c": some rows)
	@.venv/bin/python tools/reliability.py $(ROWS)

wheel: $(SETUP) ## build what goes to PyPI into dist/: source distribution, wheels (docs/release.md)
	@tools/wheel.sh $(JOBS)

test-wheel: $(SETUP) ## test what `make wheel` built, in fresh environments without a compiler
	@.venv/bin/python -m pytest tests/wheel -q -rs -s

clean: ## remove build trees, keep .venv
	@rm -rf build build-dev build-asan build-tsan build-coverage build-wheel
