#!/usr/bin/env bash
# Does what a first user does: `make demo` and `make quick` in a new clone, without caches.
#
# usage: .ci/first_user.sh PYTHON
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
python=$(command -v "$1")
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

git clone --quiet . "$folder/clone"
cd "$folder/clone"
env -u SIDECHECK_REQUIRE_ALL -u SIDECHECK_SHARED \
  UV_CACHE_DIR="$folder/cache" PIP_NO_CACHE_DIR=1 \
  make demo quick PYTHON="$python"
