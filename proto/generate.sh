#!/usr/bin/env bash
# Generates the stubs of every client but Java's from the .proto files, the values of all
# clients, and the messages of gateways. Maven makes the stubs of Java when it builds the client.
#
# usage: proto/generate.sh [OUTDIR]    generates
#        proto/generate.sh --folders   lists the folders that are generated
#
# Replaces the generated folders below OUTDIR, which is the repository if none is
# given, and the *.gen.go of the client in Go; nothing else belongs into them. Needs on PATH: the python of the project's
# environment, go, cargo, node and npm. The versions of everything that shapes the output
# are pinned: here, in the lock file of that environment, and in clients/typescript.
#
# buf generate runs the plugins of buf.gen.yaml. Python's stubs come from the protoc of
# grpcio-tools, the only program that has the plugin for grpc_python.
#
# Decision 0008: the oldest release of grpcio-tools whose stubs work with every supported protobuf.
set -euo pipefail
export LC_ALL=C

readonly PROTOC_GEN_GO=google.golang.org/protobuf/cmd/protoc-gen-go@v1.36.12
readonly PROTOC_GEN_GO_GRPC=google.golang.org/grpc/cmd/protoc-gen-go-grpc@v1.6.2
readonly PROTOC_GEN_PROST=protoc-gen-prost@0.5.0
readonly PROTOC_GEN_TONIC=protoc-gen-tonic@0.5.0
readonly GENERATED=(
  clients/python/sidecheck/v1
  clients/python/sidecheck/values
  clients/python/sidecheck/wire/decoders
  clients/go/sidecheck/v1
  clients/java/sidecheck/src/generated
  clients/rust/src/gen
  clients/rust/src/values
  clients/typescript/src/gen
  clients/typescript/src/values
  service/sidecheck_server/gateways/generated
)

if [[ ${1:-} == --folders ]]; then
  printf '%s\n' "${GENERATED[@]}"
  exit
fi

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
mkdir -p "${1:-$root}"
output=$(cd "${1:-$root}" && pwd)
stage=$(mktemp -d)
trap 'rm -rf "$stage"' EXIT

fail() {
  echo "generate: $1" >&2
  exit 1
}

# Installs a Go program, module@version, unless that very version is there.
install_go_program() {
  local package=${1%@*} version=${1#*@}
  local program=$root/.tools/bin/${package##*/} present
  present=$(go version -m "$program" 2>/dev/null | awk '$1 == "mod" { print $3 }') || true
  if [[ $present != "$version" ]]; then
    GOBIN=$root/.tools/bin go install "$1"
  fi
}

# Installs a Rust program, crate@version, unless that very version is there.
install_rust_program() {
  local list=$root/.tools/.crates2.json
  if ! grep -qs "\"${1%@*} ${1#*@} " "$list"; then
    # Programs that run for a second need no optimization; both have the same dependencies.
    CARGO_TARGET_DIR=$root/build/generators \
      cargo install --quiet --locked --debug --root "$root/.tools" "$1"
  fi
}

# Installs what clients/typescript/package-lock.json names, unless it is there.
install_node_packages() {
  local package=$root/clients/typescript
  if [[ ! $package/node_modules/.package-lock.json -nt $package/package-lock.json ]]; then
    npm --prefix "$package" ci --no-audit --no-fund --loglevel=error
  fi
}

for program in buf protoc-gen-mypy_grpc; do
  command -v "$program" >/dev/null || fail "$program is not on PATH: run make generate"
done
for program in go cargo node npm; do
  command -v "$program" >/dev/null || fail "$program is not on PATH"
done
install_go_program "$PROTOC_GEN_GO"
install_go_program "$PROTOC_GEN_GO_GRPC"
install_rust_program "$PROTOC_GEN_PROST"
install_rust_program "$PROTOC_GEN_TONIC"
install_node_packages

cd "$root/proto"
mapfile -t protos < <(find sidecheck -name '*.proto' | sort)
# Only these have a *_pb2_grpc file: it would be empty for the others.
mapfile -t services < <(grep -l '^service ' "${protos[@]}")
for folder in "${GENERATED[@]}"; do
  mkdir -p "$stage/$folder"
done

protoc() {
  python -m grpc_tools.protoc --proto_path=. "$@"
}
protoc "${protos[@]}" \
  --python_out="$stage/clients/python" \
  --pyi_out="$stage/clients/python"
protoc "${services[@]}" \
  --grpc_python_out="$stage/clients/python" \
  --mypy_grpc_out="$stage/clients/python" --mypy_grpc_opt=quiet
echo '"""Generated from proto/sidecheck/v1: the messages and stubs of the API."""' \
  >"$stage/clients/python/sidecheck/v1/__init__.py"
# The server alone needs these, inside of its own package.
python -m grpc_tools.protoc --proto_path=agentgateway/dev/ext_mcp ext_mcp.proto \
  --python_out="$stage/service/sidecheck_server/gateways/generated" \
  --pyi_out="$stage/service/sidecheck_server/gateways/generated"
python -m grpc_tools.protoc --proto_path=envoy/service/ext_proc/v3 external_processor.proto \
  --python_out="$stage/service/sidecheck_server/gateways/generated" \
  --pyi_out="$stage/service/sidecheck_server/gateways/generated"
echo '"""Generated from proto/agentgateway and proto/envoy: the messages of their interfaces."""' \
  >"$stage/service/sidecheck_server/gateways/generated/__init__.py"

export PATH=$root/.tools/bin:$root/clients/typescript/node_modules/.bin:$PATH
buf generate --template buf.gen.yaml --output "$stage"
buf generate --template buf.gen.errors.yaml --output "$stage"

PYTHONPATH=$root/clients python -m generate "$stage"
echo '"""Values of the API, generated from its .proto files."""' \
  >"$stage/clients/python/sidecheck/values/__init__.py"
echo '"""Decoders of responses into values, generated from the .proto files."""' \
  >"$stage/clients/python/sidecheck/wire/decoders/__init__.py"

for folder in "${GENERATED[@]}"; do
  rm -rf "${output:?}/$folder"
  mkdir -p "$output/$folder"
  cp -R "$stage/$folder/." "$output/$folder"
done
# Go has one folder for a package, so that these are among files that are written by hand.
rm -f "$output"/clients/go/sidecheck/*.gen.go
mkdir -p "$output/clients/go/sidecheck"
cp "$stage"/clients/go/sidecheck/*.gen.go "$output/clients/go/sidecheck"
