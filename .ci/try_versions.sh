#!/usr/bin/env bash
# Runs tests and the demo against the wheels, with other releases or another interpreter.
#
# usage: .ci/try_versions.sh newest|oldest|locked PYTHON PYTEST_ARGUMENT...
#
#   newest  the newest releases that the bounds in pyproject.toml allow
#   oldest  the oldest that they allow
#   locked  those of requirements.lock
#
# If AS_OF is a day, later releases are left out. UV is the command of uv. What the tests need
# beside the service comes from requirements.lock. Needs `make setup` and the servers of the demo.
set -euo pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/.."
readonly releases=$1 python=$2
shift 2
export UV_PYTHON_DOWNLOADS=never
readonly folder=build/versions
uv() {
  env ${UV:-.tools/uv/bin/uv} "$@"
}

case $releases in
  newest) resolution=highest ;;
  oldest) resolution=lowest-direct ;;
  locked) resolution= ;;
  *)
    echo "try_versions: expected newest, oldest or locked, not $releases" >&2
    exit 2
    ;;
esac

version=$("$python" -c 'import sys; print("%d.%d" % sys.version_info[:2])')
environment=$folder/$releases-$version
rm -rf "$environment" "$folder/wheels"
uv venv --quiet --python "$python" "$environment"
uv pip sync --quiet --require-hashes --python "$environment/bin/python" requirements.lock
if [[ $resolution ]]; then
  uv pip compile --quiet --upgrade --resolution "$resolution" ${AS_OF:+--exclude-newer "$AS_OF"} \
    --python-version "$version" --no-header --no-annotate --no-emit-index-url \
    --no-emit-package sidecheck --extra otel --extra postgres --extra uvloop --extra infer \
    pyproject.toml clients/python/pyproject.toml -o "$folder/$releases.txt"
  uv pip install --quiet --no-deps --python "$environment/bin/python" -r "$folder/$releases.txt"
fi
for project in . clients/python; do
  .venv/bin/python -m build --no-isolation --wheel --outdir "$folder/wheels" "$project" >/dev/null
done
uv pip install --quiet --no-deps --no-index --python "$environment/bin/python" "$folder"/wheels/*.whl

echo "try_versions: $releases releases on $("$environment/bin/python" --version)"
"$environment/bin/python" -m pytest -n "${JOBS:-3}" --dist loadfile -q "$@"
"$environment/bin/python" clients/python/demo >"$environment/demo.txt" || {
  cat "$environment/demo.txt"
  exit 1
}
tail -1 "$environment/demo.txt"
