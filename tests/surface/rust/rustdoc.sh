#!/bin/sh
# rustdoc of a stable release with its unstable output of JSON. Only rustdoc gets the variable: set
# for cargo, it would make build scripts of dependencies run anew.
RUSTC_BOOTSTRAP=1 exec rustdoc "$@"
