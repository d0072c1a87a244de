# Two commands on a fresh machine with Python 3.11, a C and a C++ compiler: `make demo` and `make test`.

# A distribution's Python is built by what programs do most, and takes less CPU time for tests than one that a plain
# `configure` made, as pyenv does. It is taken where it has all that an environment and a C extension need.
SYSTEM_PYTHON := /usr/bin/python3.11
COMPLETE := import ensurepip, os, sysconfig, venv; os.stat(sysconfig.get_path("include") + "/Python.h")
PYTHON ?= $(shell $(SYSTEM_PYTHON) -c '$(COMPLETE)' 2>&- && echo $(SYSTEM_PYTHON) || echo python3.11)
BIN := .venv/bin
INSTALLED := .venv/installed
CHECKED := backends dialects layering passes tools semantics/test_rows.py
EMULATED := $(addprefix test/,devices $(addprefix semantics/test_,mutated_inputs.py rows.py::test_ir))
SUBPACKAGES := backends dialects frontend passes runtime tools

# Else each of the tests' processes compiles our modules again, and pytest the tests.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: demo check test checked beside-checked suite beside-suite emulated bench bench-passes partition-figures docs lint lit format typing sweep fuzz fuzz-texts wrongs op-db sanitize

demo: $(INSTALLED)
	$(BIN)/python -m dovetail.tools.demo

# For every commit, under three minutes on two idle cores: the compiler's own tests, and every row of docs/semantics.md once.
check: $(INSTALLED)
	$(MAKE) --jobs=2 checked beside-checked

# Everything; what continuous integration runs. Much of the suite waits for other processes, and what has one process stands
# beside it: a core that is idle costs as much as one that works.
test: $(INSTALLED)
	$(MAKE) --jobs=2 suite beside-suite

checked: $(INSTALLED)
	$(BIN)/pytest -q -n auto --dist worksteal -m "not slow" $(addprefix test/,$(CHECKED))

# One thread a worker: see test/conftest.py.
suite: $(INSTALLED)
	$(BIN)/pytest -n auto --dist worksteal -m "not quick"

beside-suite:
	nice $(MAKE) --output-sync lint lit emulated

beside-checked:
	$(MAKE) --output-sync lint lit

# Else the allocator gives memory of large images back after each op, and the kernel clears it anew for the next one.
emulated: export MALLOC_MMAP_THRESHOLD_ = 2000000000
emulated: export MALLOC_TRIM_THRESHOLD_ = 2000000000
emulated: $(INSTALLED) build/emulated_cuda.so
	$(BIN)/pytest -n 1 -m "not quick" --device emulated-cuda $(EMULATED)

# Eager, inductor and Dovetail side by side: docs/benchmark.md, which shows other machines, too. Of an idle machine.
bench: $(INSTALLED)
	$(BIN)/python -m dovetail.tools.bench --record tools/bench/measured/host.json
	$(BIN)/python -m dovetail.tools.regenerate_docs

# What is saved for the backward of eight models, beside PyTorch's partitioner: docs/partition.md; nothing is timed.
partition-figures: $(INSTALLED)
	$(BIN)/python benchmark/partition.py -o docs/partition.md

# CPU seconds of each pass on GPT-2 with 12, 24 and 48 layers; fails above the bounds of docs/pass-speed.md.
bench-passes: $(INSTALLED)
	$(BIN)/python benchmark/passes.py -o docs/pass-speed.md

# The generated sections of README.md and docs/; test/docs fails while one is stale.
docs: $(INSTALLED)
	$(BIN)/python -m dovetail.tools.regenerate_docs

# Every op that may stand in a region, against ATen, on ordinary and special values, and large reductions. As this machine,
# about seven minutes on two busy cores, and as two older CPUs that it stands in for, longer each; docs/op-sweep.md shows
# others too.
sweep: $(INSTALLED)
	$(BIN)/python -m dovetail.tools.sweep --record tools/sweep/measured/host.json
	$(BIN)/python -m dovetail.tools.sweep --cpu haswell --record tools/sweep/measured/haswell.json
	$(BIN)/python -m dovetail.tools.sweep --cpu x86-64 --record tools/sweep/measured/x86-64.json
	$(BIN)/python -m dovetail.tools.regenerate_docs

# Random programs against eager, and a part of them against inductor: docs/fuzzing.md; hours on two cores.
JOBS ?= 2
fuzz: $(INSTALLED)
	$(BIN)/python -m dovetail.tools.fuzz --seeds 0:20000 --inductor 0:500 --jobs $(JOBS) --record build/fuzz.jsonl -o docs/fuzzing.md

# The commands on 5,000 mutants of modules and artifacts: docs/text-fuzzing.md; about a quarter of an hour on one core.
fuzz-texts: $(INSTALLED)
	$(BIN)/python -m dovetail.tools.fuzz_texts --seeds 0:5000 --record build/fuzz-texts.jsonl -o docs/text-fuzzing.md

# Small programs that mutate, alias and differentiate: eager, inductor and Dovetail; about ten minutes.
wrongs: $(INSTALLED)
	$(BIN)/python -m dovetail.tools.wrongs --markdown

# PyTorch's own samples of every operator, forward and backward, in six element types, and with open sizes:
# docs/op-db.md, which is written whatever is wrong; about an hour and a half on two cores.
op-db: $(INSTALLED)
	$(BIN)/python -m dovetail.tools.op_db --dynamic --record build/op-db.jsonl; dynamic=$$?; \
	$(BIN)/python -m dovetail.tools.op_db --record build/op-db.jsonl -o docs/op-db.md && exit $$dynamic

# The C extension under AddressSanitizer and UBSan: random plans, threads, forks, nested teams; about a minute.
SANITIZED := gcc -g -O1 -std=c11 -Wall -Wextra -Wno-unused-parameter -fsanitize=address,undefined \
	-fno-sanitize-recover=all -fno-omit-frame-pointer -shared -fPIC
sanitize: $(INSTALLED)
	mkdir -p build/sanitize
	$(SANITIZED) -I$$($(BIN)/python -c "import sysconfig; print(sysconfig.get_path('include'))") \
		runtime/native/*.c -o build/sanitize/_launch.so
	$(SANITIZED) test/sanitize/entries.c -o build/sanitize/entries.so
	ASAN_OPTIONS=detect_leaks=0 LD_PRELOAD="$$(gcc -print-file-name=libasan.so) $$(gcc -print-file-name=libstdc++.so.6)" \
		$(BIN)/python test/sanitize/stress.py build/sanitize/_launch.so build/sanitize/entries.so

build/emulated_cuda.so: test/support/emulated_cuda.cpp | $(INSTALLED)
	$(BIN)/python test/support/emulated_cuda.py

lit: $(INSTALLED)
	$(BIN)/lit -q .

lint: $(INSTALLED) typing
	$(BIN)/ruff format --check
	$(BIN)/ruff check
	$(BIN)/mypy
	$(BIN)/python -m dovetail.tools.lint_checks test

format: $(INSTALLED)
	$(BIN)/ruff format
	$(BIN)/ruff check --fix

# mypy maps folders to packages by name, so it is shown the packages as they are imported: build/typing/dovetail/frontend
# and so on, links to the real folders.
typing:
	rm -rf build/typing
	mkdir -p build/typing/dovetail
	ln -s $(addprefix $(CURDIR)/,$(wildcard dovetail/*.py) dovetail/explanation dovetail/tuning $(SUBPACKAGES)) build/typing/dovetail

# torch goes first, at the version that development uses: pyproject.toml allows several. pip would compile all of 15,000
# modules, one after the other, for a minute; without what no test imports, and one in the grammar of Python 3.12, it is
# 8,000. What came with torch is most of it, and is compiled while pip waits for the rest.
UNUSED := /(tests?|transformers/models|fontTools|matplotlib|mypyc?|lexers|styles|sympy/physics)/|/py312_
UNUSED_DIALECTS := /_(acc|amdgpu|emitc|gpu|hal|llvm|nvvm|omp|rocdl|spirv|stream|structured_transform|tosa|vm)_ops_gen
COMPILE := $(BIN)/python -m compileall -q -x '$(UNUSED)|$(UNUSED_DIALECTS)'

$(INSTALLED): pyproject.toml $(wildcard runtime/native/*)
	test -x $(BIN)/python || $(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --no-compile torch==2.13.0
	$(COMPILE) .venv/lib/python*/site-packages/torch .venv/lib/python*/site-packages/sympy & \
		$(BIN)/python -m pip install --no-compile --no-build-isolation --editable '.[dev]'; \
		installed=$$?; wait; exit $$installed
	$(COMPILE) -j 0 .venv/lib
	touch $@
