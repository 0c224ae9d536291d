# A thin front of the CMake presets: every target sets itself up, `make help` lists them.
SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
.PHONY: help demo test bench format tidy asan tsan fuzz coverage install release clean

TRACE ?= $(firstword $(wildcard examples/traces/demo*.json.gz examples/traces/demo*.json))
WHATIF ?= --rank-all
PREFIX ?= /usr/local
FUZZ_SECONDS ?= 60

JOBS ?= $(shell .ci/jobs.sh)
export CMAKE_BUILD_PARALLEL_LEVEL := $(JOBS)
export CTEST_PARALLEL_LEVEL := $(JOBS)
# A second checkout elsewhere finds what the first one compiled.
export CCACHE_BASEDIR := $(CURDIR)
export CCACHE_NOHASHDIR := 1
# Found when a recipe runs, not when make starts: set-up may have just installed it.
use_ccache = export FORETRACE_COMPILER_LAUNCHER=$$(command -v ccache || true)
preset = $(use_ccache); cmake --preset $(1) --log-level=WARNING && cmake --build --preset $(1)
foretrace := build/release/apps/foretrace

help: ## list the targets
	@grep -hE '^[a-z]+:.*## ' $(MAKEFILE_LIST) | awk -F ':.*## ' '{printf "  make %-9s %s\n", $$1, $$2}'

demo: release ## predict from a trace: TRACE=file (yours), WHATIF="--apply mixed_precision"
	@[ -n "$(TRACE)" ] || { echo "demo: no trace in examples/traces; give one: make demo TRACE=file" >&2; exit 2; }
	@echo "$(foretrace) whatif $(TRACE) $(WHATIF)"
	@$(foretrace) whatif "$(TRACE)" $(WHATIF)

release:
	@.ci/setup.sh build
	@$(call preset,release)

test: ## build with warnings as errors and run every test
	@.ci/setup.sh build test
	@$(call preset,dev)
	@ctest --preset dev

bench: ## measure the ratios of speed, into build/bench/ratios.json
	@.ci/setup.sh build bench
	@$(call preset,bench)
	@cmake --build --preset bench --target bench_ratios

format: ## lay out every source with clang-format
	@.ci/setup.sh tidy
	@find sim trace models apps tests examples \( -name '*.h' -o -name '*.cpp' \) -print0 | xargs -0 -r clang-format -i

tidy: ## clang-tidy on every source, findings are errors
	@.ci/setup.sh build tidy
	@$(call preset,tidy)

asan: ## the tests under the address and undefined-behaviour sanitizers
	@.ci/setup.sh build test
	@$(call preset,asan)
	@ctest --preset asan

tsan: ## the tests under the thread sanitizer
	@.ci/setup.sh build test
	@$(call preset,tsan)
	@ctest --preset tsan

fuzz: ## FUZZ_SECONDS (60) of fuzzing per target, with sanitizers
	@.ci/setup.sh build test
	@$(call preset,fuzz)
	@FUZZ_SECONDS=$(FUZZ_SECONDS) tests/fuzz/run.sh build/fuzz

coverage: ## line coverage of the tests
	@.ci/setup.sh build test coverage
	@$(call preset,coverage)
	@ctest --preset coverage
	@gcovr --root . --filter '(sim|trace|models|apps)/' --print-summary --output build/coverage/lines.txt build/coverage

install: release ## put program, libraries and configs below PREFIX (/usr/local); DESTDIR is honoured
	@cmake --install build/release --prefix "$(PREFIX)"

clean: ## forget every build
	@rm -rf build
