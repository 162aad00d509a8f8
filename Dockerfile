# The service in an image.
#
#   docker build -t sidecheck .
#   docker run --read-only --cap-drop ALL --security-opt no-new-privileges \
#     -p 127.0.0.1:50151:50151 sidecheck
#
# It runs as an unprivileged user without a name, and writes only the registry, under
# /var/lib/sidecheck, and, if SIDECHECK_UNIX_SOCKET is set, a socket under /run/sidecheck.
# Every setting of the service is an environment variable.

# The Python release line that the tests run on. The digest is of the index of all
# platforms, and stands for this tag as of August 2026.
FROM python:3.11.15-slim-bookworm@sha256:d29f48a31a8b408ed19272ca1e7b10ebae13b240a27e862d3d4217c528e2e0c3 AS build

ENV PIP_DISABLE_PIP_VERSION_CHECK=1 \
    PIP_NO_COMPILE=1 \
    PIP_ROOT_USER_ACTION=ignore
WORKDIR /build

# Packages change less often than the code, and so come before it. Only wheels, because to build
# a package runs its author's code. Without dependencies, because the locks contain them, and pip
# would ask the registry for later releases.
COPY deploy/build.lock deploy/runtime.lock deploy/
RUN --mount=type=cache,target=/root/.cache/pip \
    python -m pip install --no-deps --require-hashes --only-binary :all: -r deploy/build.lock
RUN --mount=type=cache,target=/root/.cache/pip \
    python -m venv --without-pip /opt/sidecheck \
    && python -m pip --python /opt/sidecheck/bin/python install --no-deps --require-hashes \
        --only-binary :all: -r deploy/runtime.lock

COPY pyproject.toml README.md LICENSE ./
COPY clients/python clients/python
COPY service service
RUN python -m pip wheel --no-deps --no-index --no-build-isolation --wheel-dir wheels \
        ./clients/python . \
    && python -m pip --python /opt/sidecheck/bin/python install --no-deps --no-index \
        wheels/*.whl


# The bill of materials of the Python packages, by a tool that no other stage has.
FROM python:3.11.15-slim-bookworm@sha256:d29f48a31a8b408ed19272ca1e7b10ebae13b240a27e862d3d4217c528e2e0c3 AS bill

WORKDIR /build
COPY deploy/sbom.lock deploy/
RUN --mount=type=cache,target=/root/.cache/pip \
    python -m pip install --no-compile --no-deps --require-hashes --only-binary :all: \
        -r deploy/sbom.lock
COPY .ci/add_vendored.py .ci/
COPY service/sidecheck_server/admin/page/vendor/lock.json service/sidecheck_server/admin/page/vendor/
COPY pyproject.toml ./
COPY --from=build /opt/sidecheck /opt/sidecheck
RUN cyclonedx-py environment --output-reproducible --sv 1.6 --of JSON \
        --pyproject pyproject.toml -o image.cdx.json /opt/sidecheck/bin/python \
    && python .ci/add_vendored.py image.cdx.json


# The root of the image: without what only a build needs, and with compiled modules.
FROM python:3.11.15-slim-bookworm@sha256:d29f48a31a8b408ed19272ca1e7b10ebae13b240a27e862d3d4217c528e2e0c3 AS root

COPY --from=build /opt/sidecheck /opt/sidecheck
COPY --from=bill /build/image.cdx.json /opt/sidecheck/share/sidecheck.cdx.json
COPY service/sidecheck_server/cli/health_probe.py /opt/sidecheck/bin/
COPY deploy/image/prepare.py /tmp/
# A fixed seed, because sets of constants are written in the order of their hashes.
RUN PYTHONHASHSEED=0 python -I /tmp/prepare.py && rm /tmp/prepare.py

# The only folders that are the user's own. Volumes keep them writable where the rest is not.
RUN install -d -o 65532 -g 65532 /var/lib/sidecheck /run/sidecheck


# One layer, so that files that were removed take no space.
FROM scratch

# Commit and time of the source, and its address, which a release sets.
ARG REVISION=unknown
ARG CREATED=1970-01-01T00:00:00Z
ARG SOURCE=unknown
LABEL org.opencontainers.image.title="sidecheck" \
      org.opencontainers.image.description="Validates MCP tool definitions, payloads and messages over gRPC" \
      org.opencontainers.image.version="0.1.0" \
      org.opencontainers.image.licenses="Apache-2.0" \
      org.opencontainers.image.revision="$REVISION" \
      org.opencontainers.image.created="$CREATED" \
      org.opencontainers.image.source="$SOURCE"

# hadolint ignore=DL3067
COPY --from=root / /
VOLUME ["/var/lib/sidecheck", "/run/sidecheck"]

# The OpenSSL in psycopg's wheel looks for the authorities of the system (sslrootcert=system) in a
# place where Debian has none, unless SSL_CERT_FILE names the file.
ENV PATH=/opt/sidecheck/bin:/usr/local/bin:/usr/bin:/bin \
    LANG=C.UTF-8 \
    PYTHONDONTWRITEBYTECODE=1 \
    SIDECHECK_LISTEN=0.0.0.0:50151 \
    SIDECHECK_LOG_FORMAT=json \
    SIDECHECK_REGISTRY=/var/lib/sidecheck/tools.db \
    SSL_CERT_FILE=/etc/ssl/certs/ca-certificates.crt
USER 65532:65532
WORKDIR /var/lib/sidecheck
EXPOSE 50151
STOPSIGNAL SIGTERM
# The script imports no packages (-I, -S), so that a check takes 0.02 s of processor time.
HEALTHCHECK --interval=30s --timeout=5s --start-period=60s --retries=3 \
    CMD ["python", "-I", "-S", "/opt/sidecheck/bin/health_probe.py"]
ENTRYPOINT ["sidecheck"]
CMD ["serve"]
