# The developer's menu. `make benchmark` and `make test` do all the set-up on a fresh machine: a virtual
# environment in .venv, the build, then the work. What is up to date is not done again.

PYTHON ?= python3
VENV := .venv
RUN := $(VENV)/bin/python
CXX ?= g++
MINUTES ?= 20
SOURCES := $(wildcard fsst/*.pyx fsst/csrc/*.hpp) setup.py pyproject.toml
NATIVE := $(wildcard tests/native/*.cpp)
FUZZ := $(wildcard tests/fuzz/fuzz_*.cpp)
FORMATTED := fsst/csrc/*.hpp tests/native/*.?pp tests/fuzz/*.?pp benchmarks/native/*.cpp

.PHONY: help benchmark test gate instructions lint format sanitize ends threads parallel large big-endian fuzz fuzz-python docs clean
.DEFAULT_GOAL := help

help:
	@echo "make benchmark   build, then measure on text that every Python has (examples/benchmark.py)"
	@echo "make test        build, then run every test"
	@echo "make gate        the checks of size and speed that CI runs (benchmarks/)"
	@echo "make instructions  instructions for each code, counted by callgrind"
	@echo "make lint        ruff, mypy, clang-format"
	@echo "make format      let ruff and clang-format rewrite the files"
	@echo "make sanitize    native checks and kept fuzz inputs under AddressSanitizer and UBSan, ends, threads"
	@echo "make ends        every kernel as users run it, between pages that can't be touched"
	@echo "make threads     many threads with one table and column, under ThreadSanitizer"
	@echo "make parallel    the Python tests of columns, each in several threads at once"
	@echo "make large       a column that does pass 2 GiB: 9 GB of memory, a minute or two"
	@echo "make big-endian  the native checks on an emulated processor with the high byte first"
	@echo "make fuzz-python damaged inputs to every reader for MINUTES=20 of CPU time; GUIDED=1 has atheris choose them"
	@echo "make fuzz        fuzz with clang: MINUTES=20 of CPU time each, TARGETS=\"decode search\", JOBS=2 at a time"
	@echo "make docs        run the examples in README, docs and docstrings"
	@echo "make clean       remove what was built"

# --- The virtual environment -----------------------------------------------------------------

$(VENV)/created:
	@echo "== making a virtual environment in $(VENV)"
	$(PYTHON) -m venv $(VENV)
	$(RUN) -m pip install --quiet --upgrade pip
	@touch $@

# An editable install: edits to Python files need no new build, and the extension is built into the checkout.
$(VENV)/built: $(VENV)/created $(SOURCES)
	@echo "== installing what building and testing need, and building the extension"
	$(RUN) -m pip install --quiet "setuptools>=77" "Cython>=3.1" wheel
	$(RUN) -m pip install --quiet --no-build-isolation --editable ".[test,plot,dev]"
	@touch $@

# --- The work --------------------------------------------------------------------------------

benchmark: $(VENV)/built
	$(RUN) examples/benchmark.py

test: $(VENV)/built
	$(RUN) -m pytest

gate: $(VENV)/built
	$(RUN) -m pytest benchmarks --benchmark-disable

# Not all tests: those with processes of their own would say nothing more, and with hypothesis' examples it takes four
# minutes of processor time. Files are shared by threads in test_lifetimes.py.
PARALLEL := $(patsubst %,tests/test_%.py,array symbol_table rows codec compute convert delta page thrift)

parallel: $(VENV)/built
	$(RUN) -m pytest -q --parallel-threads=4 -m "not hypothesis and not large" \
	    -k "not instruction_set and not 32_bit" $(PARALLEL)

large: $(VENV)/built
	$(RUN) -m pytest -q -s -m large

fuzz-python: $(VENV)/built
ifdef GUIDED
	$(RUN) -m pip install --quiet atheris
	for case in table metadata page delta thrift ipc parquet; do \
	    $(RUN) tests/hostile_guided.py $$case -max_total_time=$$(($(MINUTES) * 60 / 7)) -rss_limit_mb=2048 || exit 1; done
else
	$(RUN) tests/hostile.py --minutes $(MINUTES) --note build/hostile-input
endif

docs: $(VENV)/built
	$(RUN) -m pytest tests/test_docs.py --doctest-modules fsst

lint: $(VENV)/built
	$(VENV)/bin/ruff check .
	$(VENV)/bin/ruff format --check .
	$(VENV)/bin/mypy
	$(VENV)/bin/clang-format --dry-run --Werror $(FORMATTED)

format: $(VENV)/built
	$(VENV)/bin/ruff check --fix .
	$(VENV)/bin/ruff format .
	$(VENV)/bin/clang-format -i $(FORMATTED)

build/native/instructions: benchmarks/native/instructions.cpp $(wildcard fsst/csrc/*.hpp)
	@mkdir -p build/native
	$(CXX) -std=c++17 -O3 -g -Ifsst/csrc $< -o $@

instructions: build/native/instructions
	$(PYTHON) benchmarks/instructions.py $<

SANITIZE := -std=c++17 -O1 -g -Wall -Wextra -Wshadow -Werror -fsanitize=address,undefined \
            -fno-sanitize-recover=all -fno-omit-frame-pointer -Ifsst/csrc

sanitize: $(patsubst tests/native/%.cpp,build/native/%.passed,$(NATIVE)) \
          $(patsubst tests/fuzz/%.cpp,build/native/%.replayed,$(FUZZ)) ends threads

# Processors with the high byte first, emulated: Debian's g++-s390x-linux-gnu and qemu-user. Takes a quarter of an hour.
big-endian: $(patsubst tests/native/%.cpp,build/big-endian/%.passed,$(NATIVE))

build/big-endian/%.passed: tests/native/%.cpp $(wildcard fsst/csrc/*.hpp tests/native/*.hpp)
	@mkdir -p build/big-endian
	s390x-linux-gnu-g++ -std=c++17 -O2 -static -Ifsst/csrc $< -o build/big-endian/$* -pthread
	qemu-s390x build/big-endian/$*
	@touch $@

build/native/%.passed: tests/native/%.cpp $(wildcard fsst/csrc/*.hpp tests/native/*.hpp)
	@mkdir -p build/native
	$(CXX) $(SANITIZE) $< -o build/native/$* -pthread
	build/native/$*
	@touch $@

# The machine code of a release, without a sanitizer: pages that can't be touched stand beside each buffer.
ends: build/native/ends.passed

build/native/ends.passed: tests/native/test_ends.cpp $(wildcard fsst/csrc/*.hpp tests/native/*.hpp)
	@mkdir -p build/native
	$(CXX) -std=c++17 -O3 -Wall -Wextra -Wshadow -Werror -Ifsst/csrc $< -o build/native/ends -pthread
	build/native/ends
	@touch $@

threads: build/native/threads.passed

build/native/threads.passed: tests/native/test_threads.cpp $(wildcard fsst/csrc/*.hpp tests/native/*.hpp)
	@mkdir -p build/native
	$(CXX) -std=c++17 -O1 -g -Wall -Wextra -Wshadow -Werror -fsanitize=thread -Ifsst/csrc $< \
	    -o build/native/threads -pthread
	build/native/threads
	@touch $@

# Each fuzz target on the inputs that are kept: no clang needed. tests/fuzz/run.py keeps them. Without
# optimisation, since compiling takes longer than running.
REPLAY := $(CXX) $(SANITIZE) -O0

build/native/replay.o: tests/fuzz/replay.cpp tests/fuzz/input.hpp tests/native/exact_buffer.hpp
	@mkdir -p build/native
	$(REPLAY) -c $< -o $@

build/native/fuzz_%.replayed: tests/fuzz/fuzz_%.cpp build/native/replay.o tests/fuzz/input.hpp \
                              $(wildcard fsst/csrc/*.hpp tests/fuzz/corpus/*/*)
	$(REPLAY) $< build/native/replay.o -o build/native/fuzz_$* -pthread
	build/native/fuzz_$* tests/fuzz/corpus/$*
	@touch $@

FUZZ_CXX ?= clang++
JOBS ?= 2
TARGETS ?= $(patsubst tests/fuzz/fuzz_%.cpp,%,$(FUZZ))

# Comparisons are traced where formats have constants to guess; the others run twice as fast without.
FUZZ_PLAIN := decode encode search train

build/fuzz/fuzz_%: tests/fuzz/fuzz_%.cpp tests/fuzz/input.hpp $(wildcard fsst/csrc/*.hpp)
	@mkdir -p build/fuzz
	$(FUZZ_CXX) $(filter-out -O1,$(SANITIZE)) -O2 -fsanitize=fuzzer \
	    $(if $(filter $(FUZZ_PLAIN),$*),-fno-sanitize-coverage=trace-cmp) $< -o $@ -pthread

fuzz: $(TARGETS:%=build/fuzz/fuzz_%)
	$(PYTHON) tests/fuzz/run.py --minutes $(MINUTES) --jobs $(JOBS) $(TARGETS)

clean:
	rm -rf build dist *.egg-info fsst/*.so .pytest_cache .mypy_cache .ruff_cache .hypothesis .benchmarks $(VENV)/built
