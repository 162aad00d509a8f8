#!/usr/bin/env bash
# Checks the rules and the formatting of the .proto files with buf.
#
# usage: proto/lint.sh             checks the files as they are
#        proto/lint.sh --breaking  compares them with those of the last tag, too
#
# Needs python and buf of the project's environment on PATH. buf could fetch the
# google.rpc files from its registry only; so it lints a descriptor set, which
# protoc builds with the files of the googleapis-common-protos wheel.
set -euo pipefail
export LC_ALL=C

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
stage=$(mktemp -d)
trap 'rm -rf "$stage"' EXIT

google_protos=$(python -c 'if True:
    import pathlib, grpc_tools
    from google.rpc import status_pb2
    print(pathlib.Path(status_pb2.__file__).parents[2])') || {
  echo "lint: python on PATH is not the project's: run make lint" >&2
  exit 1
}

# Writes the descriptor set of the .proto files below folder $1 to file $2.
describe() (
  cd "$1"
  mapfile -t protos < <(find sidecheck -name '*.proto' | sort)
  python -m grpc_tools.protoc --proto_path=. --proto_path="$google_protos" \
    --fatal_warnings --include_imports --include_source_info \
    --descriptor_set_out="$2" "${protos[@]}"
)

cd "$root/proto"
describe . "$stage/api.binpb"
buf lint "$stage/api.binpb" --config buf.yaml
buf format --diff --exit-code .

if [[ ${1:-} == --breaking ]]; then
  tag=$(git describe --tags --abbrev=0 2>/dev/null) || {
    echo "lint: no tag yet, so there is no released API to compare with"
    exit 0
  }
  mkdir "$stage/released"
  git -C "$root" archive "$tag" proto | tar -x -C "$stage/released"
  describe "$stage/released/proto" "$stage/released.binpb"
  buf breaking "$stage/api.binpb" --against "$stage/released.binpb" --config buf.yaml
  echo "lint: the API is compatible with $tag"
fi
