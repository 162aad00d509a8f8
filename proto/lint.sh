#!/usr/bin/env bash
# Checks the rules and the formatting of the .proto files with buf.
#
# usage: proto/lint.sh             checks the files as they are
#        proto/lint.sh --breaking  compares them with those of the last tag, too
#
# Needs buf of the project's environment on PATH.
set -euo pipefail
export LC_ALL=C

cd "$(dirname "${BASH_SOURCE[0]}")"
buf lint
buf format --diff --exit-code --exclude-path google

if [[ ${1:-} == --breaking ]]; then
  tag=$(git describe --tags --abbrev=0 2>/dev/null) || {
    echo "lint: no tag yet, so there is no released API to compare with"
    exit 0
  }
  buf breaking --against "../.git#tag=$tag,subdir=proto"
  echo "lint: the API is compatible with $tag"
fi
