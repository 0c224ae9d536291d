# A thin front of the CMake presets: every target sets itself up, `make help` lists them.
SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
.PHONY: help demo program python test validate ranges bench format tidy asan tsan fuzz coverage install package release clean

TRACE ?= $(firstword $(wildcard examples/traces/demo*.json.gz examples/traces/demo*.json))
WHATIF ?= --rank-all
TABLES ?= ../shared/validation
RANGES ?= ../shared/validation ../shared/validation_2 tests/validation/published
PREFIX ?= /usr/local
FUZZ_SECONDS ?= 60
FUZZ_RUNS ?=

JOBS ?= $(shell .ci/jobs.sh)
export CMAKE_BUILD_PARALLEL_LEVEL := $(JOBS)
export CTEST_PARALLEL_LEVEL := $(JOBS)
foretrace := build/release/apps/foretrace

help: ## list the targets
	@grep -hE '^[a-z]+:.*## ' $(MAKEFILE_LIST) | awk -F ':.*## ' '{printf "  make %-9s %s\n", $$1, $$2}'

demo: program ## predict from a trace: TRACE=file (yours), WHATIF="--apply mixed_precision"
	@[ -n "$(TRACE)" ] || { echo "demo: no trace in examples/traces; give one: make demo TRACE=file" >&2; exit 2; }
	@echo "$(foretrace) whatif $(TRACE) $(WHATIF)"
	@$(foretrace) whatif "$(TRACE)" $(WHATIF)

program:
	@.ci/setup.sh build
	@.ci/build.sh release foretrace_cli

python: ## build the Python package, in build/release/python, and run its tests
	@.ci/setup.sh build python
	@.ci/build.sh release foretrace_python foretrace_cli
	@PYTHONPATH=build/release/python FORETRACE_PROGRAM=$(foretrace) /usr/bin/python3 tests/python/foretrace_test.py
	@PYTHONPATH=build/release/python FORETRACE_PROGRAM=$(foretrace) /usr/bin/python3 -W ignore tests/python/dask_test.py

release: ## build program, libraries and the Python package as users run them
	@.ci/setup.sh build python
	@.ci/build.sh release

test: ## build with warnings as errors and run every test
	@.ci/setup.sh build test
	@.ci/build.sh dev
	@ctest --preset dev

bench: ## measure the ratios of speed, into build/bench/ratios.json
	@.ci/setup.sh build python bench
	@.ci/build.sh bench
	@cmake --build --preset bench --target bench_ratios

format: ## lay out every source with clang-format
	@.ci/setup.sh tidy
	@find sim trace models apps tests examples \( -name '*.h' -o -name '*.cpp' \) -print0 | xargs -0 -r clang-format -i

tidy: ## clang-tidy on every source, findings are errors
	@.ci/setup.sh build tidy
	@.ci/build.sh tidy

asan: ## the tests under the address and undefined-behaviour sanitizers
	@.ci/setup.sh build test
	@.ci/build.sh asan
	@ctest --preset asan

tsan: ## the tests under the thread sanitizer
	@.ci/setup.sh build test
	@.ci/build.sh tsan
	@ctest --preset tsan

fuzz: ## FUZZ_SECONDS (60) of fuzzing per target, with sanitizers; or FUZZ_RUNS on the seeds
	@.ci/setup.sh build test
	@tests/fuzz/can_fuzz.sh || exit 0; .ci/build.sh fuzz fuzz_targets && \
	  FUZZ_SECONDS=$(FUZZ_SECONDS) FUZZ_RUNS=$(FUZZ_RUNS) tests/fuzz/run.sh build/fuzz

validate: ## predict the rows of published tables: TABLES=folder of tables (foretrace-truth/1)
	@.ci/setup.sh build
	@.ci/build.sh release foretrace_validate
	@build/release/apps/foretrace-validate --tables "$(TABLES)"

ranges: ## configs/evidence/ranges.json from published tables: RANGES="folder folder"
	@.ci/setup.sh build
	@.ci/build.sh release foretrace_validate
	@build/release/apps/foretrace-validate $(RANGES:%=--tables %) --ranges configs/evidence/ranges.json

coverage: ## line coverage of the tests
	@.ci/setup.sh build test coverage
	@.ci/build.sh coverage
	@ctest --preset coverage
	@gcovr --root . --filter '(sim|trace|models|apps)/' --print-summary --output build/coverage/lines.txt build/coverage

install: release ## put program, libraries and configs below PREFIX (/usr/local); DESTDIR is honoured
	@cmake --install build/release --prefix "$(PREFIX)"

package: release ## the program and its libraries as .deb files, in build/package
	@.ci/setup.sh package
	@.ci/package.sh

clean: ## forget every build
	@rm -rf build
