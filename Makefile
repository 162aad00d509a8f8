# make demo   the main job, end to end, with real MCP servers
# make test   every check and every test
#
# Both begin with make setup, which makes .venv from the lock file and needs Python
# 3.11 or later, git and make. Go and Node are used where they are.
PYTHON ?= python3
BIN := .venv/bin
export PATH := $(CURDIR)/$(BIN):$(PATH)

.PHONY: setup demo test check generate docs lock share bench clean

setup: .venv/.made

.venv/.made: requirements.lock pyproject.toml clients/python/pyproject.toml
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements.lock
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e clients/python -e .
	touch $@

.venv-demo/.made: clients/python/demo/requirements.lock
	$(PYTHON) -m venv .venv-demo
	.venv-demo/bin/python -m pip install --quiet --disable-pip-version-check --require-hashes -r $<
	touch $@

demo: setup .venv-demo/.made
	$(BIN)/python clients/python/demo

# The official JSON Schema test suite, for clones without the shared material.
build/suite/.made: tests/suite.lock
	rm -rf build/suite && mkdir -p build/suite
	$(BIN)/python -m pip download --quiet --disable-pip-version-check --require-hashes \
		--no-deps --no-binary :all: --dest build/suite -r $<
	tar -xzf build/suite/*.tar.gz -C build/suite --strip-components 1
	touch $@

# Published MCP servers written in Python, to be read: nothing of them is installed or run.
build/servers/.made: tests/servers.lock
	rm -rf build/servers && mkdir -p build/servers
	$(BIN)/python -m pip download --quiet --disable-pip-version-check --require-hashes \
		--no-deps --only-binary :all: --dest build/servers -r $<
	touch $@

test: check .venv-demo/.made build/suite/.made build/servers/.made
	$(BIN)/python -m pytest

check: setup
	ruff check
	ruff format --check
	mypy
	lint-imports
	hadolint Dockerfile
	proto/lint.sh
	proto/check_generated.sh

generate: setup
	proto/generate.sh

# The generated pages, from the code, and the site, in build/site; without a network.
docs: setup
	$(BIN)/python -m docs.generate
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet

# Share of the corpus' schemas on the fast engine, and why not for the rest.
share: setup
	$(BIN)/python benchmarks/fast_share.py

# Speed, as ratios against peers in the same run; writes benchmarks/report. Minutes, not seconds.
bench: setup build/servers/.made
	$(BIN)/python benchmarks/validation.py --report benchmarks/report
	$(BIN)/python benchmarks/protocol.py --report benchmarks/report
	$(BIN)/python benchmarks/admission.py --report benchmarks/report
	$(BIN)/python benchmarks/conversion.py --report benchmarks/report
	$(BIN)/python benchmarks/inference.py --report benchmarks/report
	$(BIN)/python benchmarks/inference_differences.py --report benchmarks/report
	$(BIN)/python benchmarks/inferred_servers.py --report benchmarks/report
	$(BIN)/python benchmarks/serving.py --report benchmarks/report
	$(BIN)/python benchmarks/remote.py --report benchmarks/report
	$(BIN)/python benchmarks/summary.py

# The locks of the image hold releases of requirements.lock: what the service needs, and
# what its wheels are built with.
lock: setup
	uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-header \
		--no-emit-package sidecheck --no-emit-index-url --group dev --extra infer \
		pyproject.toml clients/python/pyproject.toml -o requirements.lock
	uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-header \
		--no-emit-index-url --group demo -o clients/python/demo/requirements.lock
	uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-header \
		--no-emit-package sidecheck --no-emit-index-url --constraint requirements.lock \
		pyproject.toml clients/python/pyproject.toml -o deploy/runtime.lock
	uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-header \
		--no-emit-index-url --constraint requirements.lock --group build -o deploy/build.lock

clean:
	rm -rf .venv .venv-demo .tools build
