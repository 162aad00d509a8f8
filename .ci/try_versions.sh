#!/usr/bin/env bash
# Runs tests and the demo against the wheels, with other releases or another interpreter.
#
# usage: .ci/try_versions.sh newest|oldest|locked PYTHON [PYTEST_ARGUMENT...]
#
#   newest  the newest releases that the bounds in pyproject.toml allow, of the day AS_OF, or of
#           today if it is empty
#   oldest  the oldest that they allow
#   locked  those of requirements.lock
#
# What the tests need beside the service comes from requirements.lock. Needs `make setup` and the
# servers of the demo. Without PYTEST_ARGUMENTs the unit tests run.
set -euo pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/.."
readonly releases=$1 python=$2
shift 2
export UV_PYTHON_DOWNLOADS=never
readonly uv=.tools/uv/bin/uv folder=build/versions
version=$("$python" -c 'import sys; print("%d.%d" % sys.version_info[:2])')
readonly options=(--quiet --python-version "$version"
  --no-header --no-annotate --no-emit-index-url --no-emit-package sidecheck
  --extra otel --extra postgres --extra uvloop --extra infer)

mkdir -p "$folder"
pins=$folder/$releases.txt
case $releases in
  newest)
    "$uv" pip compile "${options[@]}" ${AS_OF:+--exclude-newer "$AS_OF"} \
      pyproject.toml clients/python/pyproject.toml -o "$pins" --upgrade
    ;;
  oldest)
    "$uv" pip compile "${options[@]}" --resolution lowest-direct \
      pyproject.toml clients/python/pyproject.toml -o "$pins" --upgrade
    ;;
  locked) ;;
  *)
    echo "try_versions: expected newest, oldest or locked, not $releases" >&2
    exit 2
    ;;
esac

environment=$folder/$releases-$version
rm -rf "$environment" "$folder/wheels"
"$uv" venv --quiet --python "$python" "$environment"
"$uv" pip sync --quiet --require-hashes --python "$environment/bin/python" requirements.lock
if [[ $releases != locked ]]; then
  "$uv" pip install --quiet --no-deps --python "$environment/bin/python" -r "$pins"
fi
.venv/bin/python -m build --no-isolation --wheel --outdir "$folder/wheels" . >/dev/null
.venv/bin/python -m build --no-isolation --wheel --outdir "$folder/wheels" clients/python >/dev/null
"$uv" pip install --quiet --no-deps --no-index --python "$environment/bin/python" "$folder"/wheels/*.whl

unpinned=
if [[ $releases != locked ]]; then
  unpinned=1
fi
echo "try_versions: $releases releases on $("$environment/bin/python" --version)"
if (($#)); then
  "$environment/bin/python" -m pytest -n "${JOBS:-2}" --dist loadfile -q "$@"
else
  "$environment/bin/python" -m pytest -n "${JOBS:-2}" --dist loadfile -q \
    -m "not (server or slow or corpus or fuzz or long${unpinned:+ or pinned})" tests/core tests/services
fi
"$environment/bin/python" clients/python/demo >"$environment/demo.txt" || {
  cat "$environment/demo.txt"
  exit 1
}
tail -1 "$environment/demo.txt"
