#!/usr/bin/env bash
# Generates the Python, Go and TypeScript stubs from the .proto files.
#
# usage: proto/generate.sh [OUTDIR]    generates
#        proto/generate.sh --folders   lists the folders that are generated
#
# Replaces the generated folders below OUTDIR, which is the repository if none is
# given; nothing else belongs into them. Needs on PATH: the python of the project's
# environment, go, node and npm. The versions of everything that shapes the output
# are pinned: here, in the lock file of that environment, and in clients/typescript.
set -euo pipefail
export LC_ALL=C

readonly PROTOC_GEN_GO=google.golang.org/protobuf/cmd/protoc-gen-go@v1.36.12
readonly PROTOC_GEN_GO_GRPC=google.golang.org/grpc/cmd/protoc-gen-go-grpc@v1.6.2
readonly GENERATED=(clients/python/sidecheck/v1 clients/go/sidecheck/v1 clients/typescript/src/gen)

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

# Installs what clients/typescript/package-lock.json names, unless it is there.
install_node_packages() {
  local package=$root/clients/typescript
  if [[ ! $package/node_modules/.package-lock.json -nt $package/package-lock.json ]]; then
    npm --prefix "$package" ci --no-audit --no-fund --loglevel=error
  fi
}

protoc() {
  python -m grpc_tools.protoc --proto_path="$root/proto" --proto_path="$google_protos" "$@"
}

google_protos=$(python -c 'if True:
    import pathlib, grpc_tools
    from google.rpc import status_pb2
    print(pathlib.Path(status_pb2.__file__).parents[2])') ||
  fail "python on PATH is not the project's: run make generate"
for program in protoc-gen-mypy_grpc go node npm; do
  command -v "$program" >/dev/null || fail "$program is not on PATH"
done
install_go_program "$PROTOC_GEN_GO"
install_go_program "$PROTOC_GEN_GO_GRPC"
install_node_packages

cd "$root/proto"
mapfile -t protos < <(find sidecheck -name '*.proto' | sort)
# Only these have a *_pb2_grpc file: it would be empty for the others.
mapfile -t services < <(grep -l '^service ' "${protos[@]}")
for folder in "${GENERATED[@]}"; do
  mkdir -p "$stage/$folder"
done

protoc "${protos[@]}" \
  --python_out="$stage/clients/python" \
  --pyi_out="$stage/clients/python"
protoc "${services[@]}" \
  --grpc_python_out="$stage/clients/python" \
  --mypy_grpc_out="$stage/clients/python" --mypy_grpc_opt=quiet
echo '"""Generated from proto/sidecheck/v1: the messages and stubs of the API."""' \
  >"$stage/clients/python/sidecheck/v1/__init__.py"

protoc "${protos[@]}" \
  --plugin="$root/.tools/bin/protoc-gen-go" \
  --plugin="$root/.tools/bin/protoc-gen-go-grpc" \
  --go_out="$stage/clients/go" --go_opt=paths=source_relative \
  --go-grpc_out="$stage/clients/go" --go-grpc_opt=paths=source_relative

# The google.rpc files are for reading refusals: grpc-js leaves a status's details
# encoded, and has no types for them.
ts_options=(
  outputServices=grpc-js
  env=node
  esModuleInterop=true
  importSuffix=.js
  forceLong=bigint
  oneof=unions-value
  comments=true
)
protoc "${protos[@]}" google/rpc/status.proto google/rpc/error_details.proto \
  --plugin="$root/clients/typescript/node_modules/.bin/protoc-gen-ts_proto" \
  --ts_proto_out="$stage/clients/typescript/src/gen" \
  --ts_proto_opt="$(IFS=,; echo "${ts_options[*]}")"

for folder in "${GENERATED[@]}"; do
  rm -rf "${output:?}/$folder"
  mkdir -p "$output/$folder"
  cp -R "$stage/$folder/." "$output/$folder"
done
