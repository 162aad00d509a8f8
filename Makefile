# make install    the service in .venv, and nothing else
# make demo       the main job, end to end, with real MCP servers
# make setup      what developers need, in .venv
# make quick      the checks and the fast unit tests
# make test       every check, and all tests but the long ones
# make ci         every test, also those that need the shared material and all tool chains
# make envoy      the tests of the transport, with Envoy as the server
# make newest     tests and demo with the newest releases that pyproject.toml allows
# make oldest     the same with the oldest
# make test-deps  installs Chromium and what builds the image, on Debian as root
#
# Requires Python 3.11 or later, git and make. Installation resolves no versions: uv installs the
# releases of the lock files, and checks their hashes. Only `make test-deps` changes anything
# outside of this folder and of caches. `make ci` uses Go, Rust, a JDK with Maven, Node and Chromium
# if they are installed; tests that need a missing one are skipped, with the reason.
PYTHON ?= python3
# Processes that run tests. Many tests wait for servers, so there is one more than small machines
# have processors.
JOBS ?= 3
BIN := .venv/bin
export PATH := $(CURDIR)/$(BIN):$(PATH)
# Tests start thousands of Python processes; without bytecode files, each one compiles its modules.
unexport PYTHONDONTWRITEBYTECODE

# uv installs for the interpreter that it is given, and never downloads another one. It does not
# read the settings of pip: where pip is set to a mirror, uv is given the same one.
export UV_PYTHON_DOWNLOADS := never
UV_INDEX = $(or $(UV_DEFAULT_INDEX),$(PIP_INDEX_URL),$(shell .tools/uv/bin/python -m pip config get global.index-url 2>/dev/null))
UV = $(if $(UV_INDEX),UV_DEFAULT_INDEX=$(UV_INDEX) ).tools/uv/bin/uv
UV_INSTALL = $(UV) pip install --quiet --no-deps
UV_SYNC = $(UV) pip sync --quiet --require-hashes
# Downloads files without installing them, which uv cannot do. It resolves no versions either, and
# the build requirements of the one source distribution are in the environment already.
PIP_DOWNLOAD := $(BIN)/python -m pip download --quiet --disable-pip-version-check \
	--require-hashes --no-deps --no-build-isolation
CYCLONEDX := .venv-sbom/bin/cyclonedx-py
CYCLONEDX_OPTIONS := --output-reproducible --validate --sv 1.6 --of JSON
# In the order of tests/conftest.py; by default, xdist begins with the files of most tests.
PYTEST := $(BIN)/python -m pytest -n $(JOBS) --dist loadfile --no-loadscope-reorder
UNIT_TESTS := tests/core tests/services

.PHONY: install setup demo quick test test-deps ci checks envoy newest oldest lint types types-service unit \
	generated breaking generate surface docs lock dist sbom conformance matrix share bench bench-quick \
	clean image changelog release-check image-wheels publish-python publish-npm publish-crate \
	publish-maven publish-image tag-go

# Decision 0073: locks have hashes and name no registry, and installation resolves nothing.
# uv in the release of its lock file. pip considers no other release and no dependency.
.tools/uv/.made: deploy/installer.lock
	@echo "Installing uv in .tools/uv"
	@$(PYTHON) -m venv .tools/uv
	@.tools/uv/bin/python -m pip install --quiet --disable-pip-version-check \
		--no-deps --only-binary :all: --require-hashes -r $<
	@touch $@

# Removes nothing: `make install` leaves the tools of developers in place.
.venv/.installed: deploy/runtime.lock deploy/build.lock pyproject.toml clients/python/pyproject.toml \
		.tools/uv/.made
	@echo "Installing the service and its dependencies in .venv"
	@test -x $(BIN)/python || $(UV) venv --quiet --python $(PYTHON) .venv
	@$(UV_INSTALL) --python $(BIN)/python --require-hashes -r deploy/runtime.lock -r deploy/build.lock
	@$(UV_INSTALL) --python $(BIN)/python --no-build-isolation -e clients/python -e .
	@touch $@

install: .venv/.installed

.venv/.developer: requirements.lock .venv/.installed
	@echo "Installing the tools of developers in .venv"
	@$(UV_SYNC) --python $(BIN)/python $<
	@$(UV_INSTALL) --python $(BIN)/python --no-build-isolation -e clients/python -e .
	@touch $@

setup: .venv/.developer

.venv-demo/.made: clients/python/demo/requirements.lock .tools/uv/.made
	@echo "Installing the MCP servers of the demo in .venv-demo"
	@test -x .venv-demo/bin/python || $(UV) venv --quiet --python $(PYTHON) .venv-demo
	@$(UV_SYNC) --python .venv-demo/bin/python $<
	@touch $@

# Earlier releases of the packages of MCP servers, each in an environment of its own, for the tests of
# the Python client's wrapper.
.venv-mcp-1/.made: tests/mcp-1.lock
.venv-fastmcp-2/.made: tests/fastmcp-2.lock
.venv-mcp-1/.made .venv-fastmcp-2/.made: .tools/uv/.made
	@test -x $(@D)/bin/python || $(UV) venv --quiet --python $(PYTHON) $(@D)
	@$(UV_SYNC) --python $(@D)/bin/python $(filter %.lock,$^)
	@touch $@

demo: install .venv-demo/.made
	@$(BIN)/python clients/python/demo

# The official JSON Schema test suite, for clones without the shared material.
build/suite/.made: tests/suite.lock | setup
	rm -rf build/suite && mkdir -p build/suite
	$(PIP_DOWNLOAD) --no-binary :all: --dest build/suite -r $<
	tar -xzf build/suite/*.tar.gz -C build/suite --strip-components 1
	touch $@

# Published MCP servers written in Python, to be read: nothing of them is installed or run.
build/servers/.made: tests/servers.lock | setup
	rm -rf build/servers && mkdir -p build/servers
	$(PIP_DOWNLOAD) --only-binary :all: --dest build/servers -r $<
	touch $@

# Envoy, for the tests of its external processor, in an environment of its own.
build/envoy/.made: tests/envoy.lock .tools/uv/.made
	rm -rf build/envoy
	$(UV) venv --quiet --python $(PYTHON) build/envoy
	$(UV_SYNC) --python build/envoy/bin/python $<
	touch $@

# MCP clients and servers of the matrix of compatibility: an environment for each lock, and a server
# in each other language whose tools are installed; tests of the others skip, with the reason.
MATRIX_LOCKS := $(wildcard tests/matrix/locks/*.lock)
build/matrix/.made: $(MATRIX_LOCKS) tests/proxy/servers/package-lock.json .tools/uv/.made \
		$(wildcard tests/matrix/servers/*/* tests/matrix/servers/*/src/*)
	@echo "Installing the MCP clients and servers of the matrix in build/matrix"
	@mkdir -p build/matrix
	@set -e; for lock in $(MATRIX_LOCKS); do \
		folder=build/matrix/$$(basename $$lock .lock); \
		test -x $$folder/bin/python || $(UV) venv --quiet --python $(PYTHON) $$folder; \
		$(UV_SYNC) --python $$folder/bin/python $$lock; \
	done
	@! command -v npm >/dev/null || npm --prefix tests/proxy/servers ci --no-audit --no-fund --silent
	@! command -v go >/dev/null || go build -C tests/matrix/servers/go -o $(CURDIR)/build/matrix/weather-go .
	@! command -v mvn >/dev/null || mvn -B -q -f tests/matrix/servers/java \
		-Dbuild.folder=$(CURDIR)/build/matrix/java package
	@! command -v cargo >/dev/null || cargo build --quiet --locked \
		--manifest-path tests/matrix/servers/rust/Cargo.toml --target-dir build/matrix/rust
	@touch $@

# Programs that tests otherwise skip without: Chromium for the page, and what builds and runs the
# image without Docker. Waits for another apt.
SYSTEM_PACKAGES := chromium buildah catatonit iptables mmdebstrap netavark podman runc
test-deps:
	@if dpkg --status $(SYSTEM_PACKAGES) >/dev/null 2>&1; then echo "All packages are there."; \
	elif [ "$$(id -u)" = 0 ] && [ -f /etc/debian_version ]; then \
		apt-get -o DPkg::Lock::Timeout=600 update --quiet && \
		apt-get -o DPkg::Lock::Timeout=600 install --quiet --yes --no-install-recommends \
			$(SYSTEM_PACKAGES); \
	else \
		echo "test-deps: needs root on Debian; elsewhere install Chromium as a program of the" \
			"name chromium" >&2; exit 1; \
	fi

# helm, kustomize and kubeconform, for the tests of deploy/kubernetes and deploy/helm, and the API of
# the oldest supported and of a recent Kubernetes as JSON Schema, from a Python package that contains
# it. Its schemas refer to each other by URLs, which kubeconform would download.
KUBERNETES_VERSIONS := 1.29.0 1.37.0
KUBERNETES_SCHEMAS := build/kubernetes/package/kubernetes_validate/kubernetes-json-schema
build/kubernetes/.made: deploy/tools/go.mod deploy/tools/go.sum tests/kubernetes.lock | setup
	rm -rf build/kubernetes && mkdir -p build/kubernetes/package build/kubernetes/schemas
	@if ! command -v go >/dev/null; then \
		echo "Install Go; without it, the tests of deploy/kubernetes and deploy/helm skip." >&2; \
	else set -e; \
		go build -C deploy/tools -p $(JOBS) -trimpath -ldflags="-s -w" \
			-o $(CURDIR)/build/kubernetes/ tool; \
		$(PIP_DOWNLOAD) --only-binary :all: --dest build/kubernetes \
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

.venv-sbom/.made: deploy/sbom.lock .tools/uv/.made
	test -x .venv-sbom/bin/python || $(UV) venv --quiet --python $(PYTHON) .venv-sbom
	$(UV_SYNC) --python .venv-sbom/bin/python $<
	touch $@

# Bills of materials: of the Python packages that the image contains, and of the packages that each
# wheel may be installed with, with the hashes of the locks. The tool validates its output against
# CycloneDX's schema.
build/sbom/.made: deploy/runtime.lock pyproject.toml clients/python/pyproject.toml \
		service/sidecheck_server/admin/page/vendor/lock.json .venv-sbom/.made | setup
	rm -rf build/sbom && mkdir -p build/sbom/wheels
	$(BIN)/python -m build --no-isolation --wheel --outdir build/sbom/wheels .
	$(BIN)/python -m build --no-isolation --wheel --outdir build/sbom/wheels clients/python
	$(UV) venv --quiet --python $(PYTHON) build/sbom/image
	$(UV_SYNC) --python build/sbom/image/bin/python --only-binary :all: $<
	$(UV_INSTALL) --python build/sbom/image/bin/python \
		--no-index --find-links build/sbom/wheels sidecheck sidecheck-server
	$(CYCLONEDX) environment $(CYCLONEDX_OPTIONS) --pyproject pyproject.toml \
		-o build/sbom/image.cdx.json build/sbom/image/bin/python
	$(CYCLONEDX) requirements $(CYCLONEDX_OPTIONS) --pyproject pyproject.toml \
		-o build/sbom/sidecheck_server.cdx.json $<
	$(CYCLONEDX) requirements $(CYCLONEDX_OPTIONS) --pyproject clients/python/pyproject.toml \
		-o build/sbom/sidecheck.cdx.json deploy/client.lock
	$(BIN)/python .ci/add_vendored.py build/sbom/image.cdx.json build/sbom/sidecheck_server.cdx.json
	touch $@

# Bills of materials of the image and the wheels, in build/sbom.
sbom: build/sbom/.made

quick: lint types-service unit

test: lint types .venv-demo/.made build/suite/.made
	$(PYTEST) -m "not (corpus or long)"

# Two at a time, since most of the checks and downloads use one processor at most.
ci:
	$(MAKE) --jobs=2 --output-sync=target checks
	$(PYTEST)

# Every check, and what the tests need.
checks: lint types generated breaking .venv-demo/.made .venv-mcp-1/.made .venv-fastmcp-2/.made \
		build/suite/.made build/servers/.made build/envoy/.made build/kubernetes/.made \
		build/sbom/.made build/matrix/.made

# The tests of the transport, with Envoy in place of gRPC's server.
ENVOY_TESTS ?= tests/rpc tests/conformance/test_languages.py
envoy: setup
	SIDECHECK_SERVER=envoy $(PYTEST) -m "not grpc_server" $(ENVOY_TESTS)

# With AS_OF, the newest releases of that day, so that a later run uses the same ones. VERSION_TESTS
# need no servers except those that they start.
VERSION_TESTS ?= $(UNIT_TESTS) tests/rpc tests/conformance
VERSION_MARKS ?= not (pinned or corpus or fuzz or long)
newest oldest: setup .venv-demo/.made build/suite/.made
	UV="$(UV)" AS_OF="$(AS_OF)" .ci/try_versions.sh $@ $(PYTHON) \
		-m "$(VERSION_MARKS)" $(VERSION_TESTS)

lint: setup
	ruff check
	ruff format --check
	lint-imports
	hadolint Dockerfile
	proto/lint.sh
	.ci/check_names.py
	.ci/release.py check
	zizmor --offline --quiet .github

types: setup
	mypy

types-service: setup
	mypy service clients/python/sidecheck

# These tests never wait, so more processes than processors would not make them faster.
unit: setup
	$(BIN)/python -m pytest -n 2 --dist loadfile -q -m "not (server or slow or corpus or fuzz or long)" $(UNIT_TESTS)

# Whether the generated code is up to date with the .proto files.
generated: setup
	proto/check_generated.sh

# Whether the API is still compatible with callers of the last tagged release.
breaking: setup
	proto/lint.sh --breaking

generate: setup
	proto/generate.sh
	$(BIN)/python clients/python/generate_blocking.py

# The public interface of each client, in clients/LANGUAGE/api.txt; needs Go, Rust, a JDK and Node.
surface: setup
	cd tests && $(CURDIR)/$(BIN)/python -m surface

# The wheels and source distributions of the server and the client.
dist: setup
	rm -rf dist
	$(BIN)/python -m build --no-isolation --outdir dist .
	$(BIN)/python -m build --no-isolation --outdir dist clients/python

# The image, built and run without Docker and without a registry of images; as root on Debian.
SUDO = $(if $(filter 0,$(shell id -u)),,sudo)
image: setup
	$(SUDO) $(MAKE) test-deps SYSTEM_PACKAGES="$(filter-out chromium,$(SYSTEM_PACKAGES))"
	$(SUDO) env SIDECHECK_REQUIRE_ALL=1 $(BIN)/python -m pytest -q tests/image/test_image.py

# Moves the fragments of changes/ into a section of CHANGELOG.md.
changelog: setup
	$(BIN)/towncrier build --yes \
		--version "$$($(BIN)/python -c 'import sidecheck_server as s; print(s.__version__)')"

# Whether every file has the version of pyproject.toml; with TAG, whether that tag may be released.
release-check: setup
	.ci/release.py check $(if $(TAG),--tag $(TAG))

# Whether the locks of the image have wheels for each platform that is released. They are unpacked
# with their hashes checked, and none is run, so that the machine may be of another platform.
WHEEL_PLATFORMS := x86_64-manylinux_2_28 aarch64-manylinux_2_28
image-wheels: setup .tools/uv/.made
	rm -rf build/wheels
	for platform in $(WHEEL_PLATFORMS); do for lock in build runtime sbom; do \
		$(UV_INSTALL) --require-hashes --only-binary :all: --python $(BIN)/python \
			--python-version 3.11 --python-platform $$platform \
			--target build/wheels/$$platform/$$lock -r deploy/$$lock.lock || exit 1; \
	done; done
	rm -rf build/wheels

# What the release workflow runs, each with the credentials of its registry; docs/releasing.md.
publish-python: .tools/uv/.made
	$(UV) publish --trusted-publishing always dist/*

publish-npm:
	cd clients/typescript && npm ci && npm run build && npm publish --provenance --access public

publish-crate:
	cd clients/rust && cargo publish --locked

publish-maven:
	cd clients/java/sidecheck && mvn --batch-mode --no-transfer-progress -P release deploy

# IMAGE is its name with a tag. The default builder stores no attestations.
BUILDER = sidecheck-release
publish-image:
	docker buildx inspect $(BUILDER) > /dev/null 2>&1 \
		|| docker buildx create --name $(BUILDER) --driver docker-container
	docker buildx build --builder $(BUILDER) --push --tag $(IMAGE) --provenance=mode=max --sbom=true \
		--build-arg REVISION="$$(git rev-parse HEAD)" \
		--build-arg CREATED="$$(TZ=UTC git log -1 --date=format-local:%Y-%m-%dT%H:%M:%SZ --format=%cd)" \
		--build-arg SOURCE=https://github.com/sidecheck/sidecheck .

# Go finds the version of a module in a folder by a tag with the path of the folder.
tag-go: setup
	git tag --sign clients/go/v$$($(BIN)/python -c 'import sidecheck_server as s; print(s.__version__)')

# The generated pages, from the code, and the site, in build/site; without a network.
docs: setup
	$(BIN)/python -m docs.generate
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet

# The official conformance suite of MCP, directly and through the proxy; needs Node and npm.
conformance: setup
	cd tests && $(CURDIR)/$(BIN)/python -m mcp_conformance

# Every client and server of the matrix, directly and through the proxy, some 20 minutes; then
# `make docs` writes docs/reference/compatibility.md.
matrix: setup build/matrix/.made
	cd tests && $(CURDIR)/$(BIN)/python -m matrix --all

# The share of the corpus' schemas that run on the fast engine, and why the others do not.
share: setup
	$(BIN)/python benchmarks/fast_share.py

# Speed, as ratios against peers in the same run; writes build/benchmarks. Over an hour on a quiet
# machine; quick takes some 5 minutes, and its figures are rough.
bench: setup build/servers/.made
	$(BIN)/python benchmarks
bench-quick: setup build/servers/.made
	$(BIN)/python benchmarks --quick --report build/benchmarks-quick

# The locks of the image and of the client use the releases of requirements.lock: those of the
# service's dependencies, and of the build requirements of its wheels.
LOCK = $(UV) pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-header \
	--no-emit-index-url
EXTRAS := --extra otel --extra postgres
lock: .tools/uv/.made
	$(LOCK) --no-emit-package sidecheck --group dev --extra infer --extra uvloop --extra envoy $(EXTRAS) \
		pyproject.toml clients/python/pyproject.toml -o requirements.lock
	$(LOCK) --group demo -o clients/python/demo/requirements.lock
	$(LOCK) --no-emit-package sidecheck --constraint requirements.lock $(EXTRAS) \
		pyproject.toml clients/python/pyproject.toml -o deploy/runtime.lock
	$(LOCK) --constraint requirements.lock clients/python/pyproject.toml -o deploy/client.lock
	$(LOCK) --group mcp-1 -o tests/mcp-1.lock
	$(LOCK) --group fastmcp-2 -o tests/fastmcp-2.lock
	$(LOCK) --constraint requirements.lock --group build -o deploy/build.lock
	$(LOCK) --constraint requirements.lock --group installer -o deploy/installer.lock
	$(LOCK) --group sbom -o deploy/sbom.lock
	@set -e; for versions in tests/matrix/locks/*.in; do \
		$(LOCK) $$versions -o $${versions%.in}.lock; done

clean:
	rm -rf .venv .venv-demo .venv-sbom .tools build dist
