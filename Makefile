# make demo    the main job, end to end, with real MCP servers
# make quick   the checks and the unit tests, in less than a minute
# make test    every check and every test that needs no more than this clone
# make ci      these, and what needs the shared material and all tool chains; see .ci/run
#
# All begin with make setup, which makes .venv from the lock file and needs Python
# 3.11 or later, git and make. Go, Rust, a JDK with Maven, and Node are used where they are.
PYTHON ?= python3
# Processes that run tests.
JOBS ?= 2
BIN := .venv/bin
export PATH := $(CURDIR)/$(BIN):$(PATH)

PIP_INSTALL := -m pip install --quiet --disable-pip-version-check
PIP_DOWNLOAD := -m pip download --quiet --disable-pip-version-check --require-hashes --no-deps
CYCLONEDX := .venv-sbom/bin/cyclonedx-py
CYCLONEDX_OPTIONS := --output-reproducible --validate --sv 1.6 --of JSON
PYTEST := $(BIN)/python -m pytest -n $(JOBS) --dist loadfile
UNIT_TESTS := tests/core tests/services

.PHONY: setup demo quick test ci lint types unit generated breaking generate docs lock dist sbom \
	conformance share bench clean

setup: .venv/.made

# The last line is for mypy's cache: reading the types of the packages that only tests and
# benchmarks use takes half a minute, once.
.venv/.made: requirements.lock pyproject.toml clients/python/pyproject.toml
	$(PYTHON) -m venv .venv
	$(BIN)/python $(PIP_INSTALL) --require-hashes -r requirements.lock
	$(BIN)/python $(PIP_INSTALL) --no-deps --no-build-isolation -e clients/python -e .
	touch $@
	-$(BIN)/mypy tests/providers benchmarks >/dev/null

.venv-demo/.made: clients/python/demo/requirements.lock
	$(PYTHON) -m venv .venv-demo
	.venv-demo/bin/python $(PIP_INSTALL) --require-hashes -r $<
	touch $@

demo: setup .venv-demo/.made
	$(BIN)/python clients/python/demo

# The official JSON Schema test suite, for clones without the shared material.
build/suite/.made: tests/suite.lock | setup
	rm -rf build/suite && mkdir -p build/suite
	$(BIN)/python $(PIP_DOWNLOAD) --no-binary :all: --dest build/suite -r $<
	tar -xzf build/suite/*.tar.gz -C build/suite --strip-components 1
	touch $@

# Published MCP servers written in Python, to be read: nothing of them is installed or run.
build/servers/.made: tests/servers.lock | setup
	rm -rf build/servers && mkdir -p build/servers
	$(BIN)/python $(PIP_DOWNLOAD) --only-binary :all: --dest build/servers -r $<
	touch $@

# Envoy, for the tests of its external processor, in an environment of its own.
build/envoy/.made: tests/envoy.lock
	rm -rf build/envoy
	$(PYTHON) -m venv build/envoy
	build/envoy/bin/python $(PIP_INSTALL) --require-hashes -r $<
	touch $@

# Chromium, for the tests of the page. Debian's package needs root; elsewhere any Chromium will do
# that is on PATH under this name.
build/chromium/.made:
	@if command -v chromium >/dev/null; then :; \
	elif [ "$$(id -u)" = 0 ] && [ -f /etc/debian_version ]; then \
		apt-get update --quiet && apt-get install --quiet --yes --no-install-recommends chromium; \
	else \
		echo "Install Chromium, as a program of the name chromium: on Debian, as root," \
			"apt-get install chromium. Without it, the tests of the page skip." >&2; \
	fi
	@mkdir -p $(@D) && if command -v chromium >/dev/null; then touch $@; fi

# helm, kustomize and kubeconform, for the tests of deploy/kubernetes and deploy/helm, and the API of
# the oldest and of a recent Kubernetes as JSON Schema, out of a Python package that carries it. Its
# schemas refer to each other as files of a web server, which kubeconform would ask.
KUBERNETES_VERSIONS := 1.29.0 1.37.0
KUBERNETES_SCHEMAS := build/kubernetes/package/kubernetes_validate/kubernetes-json-schema
build/kubernetes/.made: deploy/tools/go.mod deploy/tools/go.sum tests/kubernetes.lock | setup
	rm -rf build/kubernetes && mkdir -p build/kubernetes/package build/kubernetes/schemas
	@if ! command -v go >/dev/null; then \
		echo "Install Go; without it, the tests of deploy/kubernetes and deploy/helm skip." >&2; \
	else set -e; \
		go build -C deploy/tools -p $(JOBS) -trimpath -ldflags="-s -w" \
			-o $(CURDIR)/build/kubernetes/ tool; \
		$(BIN)/python $(PIP_DOWNLOAD) --only-binary :all: --dest build/kubernetes \
			-r tests/kubernetes.lock; \
		$(BIN)/python -m zipfile --extract build/kubernetes/*.whl build/kubernetes/package; \
		for version in $(KUBERNETES_VERSIONS); do \
			mv $(KUBERNETES_SCHEMAS)/v$$version-local-strict build/kubernetes/schemas/v$$version; \
		done; \
		sed -i -e 's|"/api/_definitions.json|"_definitions.json|' -e 's|"$$id": "https:|"$$comment": "https:|' \
			build/kubernetes/schemas/*/*.json; \
		rm -r build/kubernetes/*.whl build/kubernetes/package; \
		touch $@; \
	fi

.venv-sbom/.made: deploy/sbom.lock
	$(PYTHON) -m venv .venv-sbom
	.venv-sbom/bin/python $(PIP_INSTALL) --require-hashes -r $<
	touch $@

# The Python packages of the image, as they are installed; and what each wheel may be installed
# with, by the hashes of the locks. The tool validates what it writes against CycloneDX's schema.
build/sbom/.made: deploy/runtime.lock pyproject.toml clients/python/pyproject.toml \
		.venv-sbom/.made | setup
	rm -rf build/sbom && mkdir -p build/sbom/wheels
	$(BIN)/python -m build --no-isolation --wheel --outdir build/sbom/wheels .
	$(BIN)/python -m build --no-isolation --wheel --outdir build/sbom/wheels clients/python
	$(PYTHON) -m venv --without-pip build/sbom/image
	$(BIN)/python -m pip --python build/sbom/image/bin/python install --quiet \
		--require-hashes --only-binary :all: -r $<
	$(BIN)/python -m pip --python build/sbom/image/bin/python install --quiet \
		--no-deps --no-index --find-links build/sbom/wheels sidecheck sidecheck-server
	$(CYCLONEDX) environment $(CYCLONEDX_OPTIONS) --pyproject pyproject.toml \
		-o build/sbom/image.cdx.json build/sbom/image/bin/python
	$(CYCLONEDX) requirements $(CYCLONEDX_OPTIONS) --pyproject pyproject.toml \
		-o build/sbom/sidecheck_server.cdx.json $<
	$(LOCK) --constraint $< clients/python/pyproject.toml -o build/sbom/sidecheck.lock
	$(CYCLONEDX) requirements $(CYCLONEDX_OPTIONS) --pyproject clients/python/pyproject.toml \
		-o build/sbom/sidecheck.cdx.json build/sbom/sidecheck.lock
	touch $@

# Bills of materials of the image and the wheels, in build/sbom.
sbom: build/sbom/.made

quick: lint types unit

test: lint types generated .venv-demo/.made build/suite/.made build/servers/.made \
		build/envoy/.made build/chromium/.made build/sbom/.made
	$(PYTEST) -m "not corpus"

ci: lint types generated breaking .venv-demo/.made build/suite/.made build/servers/.made \
		build/envoy/.made build/chromium/.made build/kubernetes/.made build/sbom/.made
	$(PYTEST)

lint: setup
	ruff check
	ruff format --check
	lint-imports
	hadolint Dockerfile
	proto/lint.sh
	.ci/check_names.py

types: setup
	mypy

unit: setup
	$(PYTEST) -q -m "not (server or slow or corpus or fuzz)" $(UNIT_TESTS)

# Whether the generated code is what the .proto files make.
generated: setup
	proto/check_generated.sh

# Whether callers of the last tagged release can still call.
breaking: setup
	proto/lint.sh --breaking

generate: setup
	proto/generate.sh
	$(BIN)/python clients/python/generate_blocking.py

# The wheels and source distributions of the server and the client.
dist: setup
	rm -rf dist
	$(BIN)/python -m build --no-isolation --outdir dist .
	$(BIN)/python -m build --no-isolation --outdir dist clients/python

# The generated pages, from the code, and the site, in build/site; without a network.
docs: setup
	$(BIN)/python -m docs.generate
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet

# The official conformance suite of MCP, directly and through the proxy; needs Node and npm.
conformance: setup
	cd tests && $(CURDIR)/$(BIN)/python -m mcp_conformance

# Share of the corpus' schemas on the fast engine, and why not for the rest.
share: setup
	$(BIN)/python benchmarks/fast_share.py

# Speed, as ratios against peers in the same run; writes benchmarks/report. Minutes, not seconds.
bench: setup build/servers/.made
	$(BIN)/python benchmarks/validation.py --report benchmarks/report
	$(BIN)/python benchmarks/protocol.py --report benchmarks/report
	$(BIN)/python benchmarks/admission.py --report benchmarks/report
	$(BIN)/python benchmarks/conversion.py --report benchmarks/report
	$(BIN)/python benchmarks/comparison.py --report benchmarks/report
	$(BIN)/python benchmarks/inference.py --report benchmarks/report
	$(BIN)/python benchmarks/inference_differences.py --report benchmarks/report
	$(BIN)/python benchmarks/inferred_servers.py --report benchmarks/report
	$(BIN)/python benchmarks/serving.py --report benchmarks/report
	$(BIN)/python benchmarks/processes.py --report benchmarks/report
	$(BIN)/python benchmarks/remote.py --report benchmarks/report
	$(BIN)/python benchmarks/coalescing.py --report benchmarks/report
	$(BIN)/python benchmarks/overload.py --report benchmarks/report
	$(BIN)/python benchmarks/proxy.py --report benchmarks/report
	$(BIN)/python benchmarks/registry_replicas.py --report benchmarks/report
	$(BIN)/python benchmarks/summary.py

# The locks of the image hold releases of requirements.lock: what the service needs, and
# what its wheels are built with.
LOCK := uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-header \
	--no-emit-index-url
EXTRAS := --extra otel --extra postgres --extra uvloop
lock: setup
	$(LOCK) --no-emit-package sidecheck --group dev --extra infer $(EXTRAS) \
		pyproject.toml clients/python/pyproject.toml -o requirements.lock
	$(LOCK) --group demo -o clients/python/demo/requirements.lock
	$(LOCK) --no-emit-package sidecheck --constraint requirements.lock $(EXTRAS) \
		pyproject.toml clients/python/pyproject.toml -o deploy/runtime.lock
	$(LOCK) --constraint requirements.lock --group build -o deploy/build.lock
	$(LOCK) --group sbom -o deploy/sbom.lock

clean:
	rm -rf .venv .venv-demo .venv-sbom .tools build dist
