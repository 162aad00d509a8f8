#!/usr/bin/env bash
# Fails if the generated folders are not what generate.sh makes of the .proto
# files, and names the files that differ.
#
# Without go, cargo or npm on PATH it says so and passes, unless SIDECHECK_REQUIRE_ALL=1.
#
# usage: proto/check_generated.sh
set -euo pipefail

if [[ ${SIDECHECK_REQUIRE_ALL:-} != 1 ]]; then
  for program in go cargo npm; do
    if ! command -v "$program" >/dev/null; then
      echo "check_generated: skipped, for $program is not on PATH"
      exit 0
    fi
  done
fi

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
fresh=$(mktemp -d)
trap 'rm -rf "$fresh"' EXIT

cd "$root"
proto/generate.sh "$fresh"
mapfile -t folders < <(proto/generate.sh --folders)

# Hashes and names of the generated files among others, below the folder $1.
list_go_values() {
  (cd "$1" && sha256sum clients/go/sidecheck/*.gen.go)
}

differences=$(
  diff <(list_go_values .) <(list_go_values "$fresh") \
    | sed -n 's|^[<>] [^ ]*  |  out of date:         |p' | sort -u || true
  for folder in "${folders[@]}"; do
    if [[ -d $folder ]]; then
      diff --recursive --brief --exclude=__pycache__ "$folder" "$fresh/$folder" || true
    else
      echo "Only in $fresh/${folder%/*}: ${folder##*/}"
    fi
  done | sed \
    -e "s|^Only in $fresh/\(.*\): |  missing:             \1/|" \
    -e 's|^Only in \(.*\): |  no longer generated: \1/|' \
    -e 's|^Files \(.*\) and .* differ$|  out of date:         \1|'
)
if [[ -n $differences ]]; then
  echo "check_generated: the committed stubs differ from a fresh generation; run make generate"
  echo "$differences"
  exit 1
fi >&2
