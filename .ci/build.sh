#!/usr/bin/env bash
# Configures and builds a preset without noise: .ci/build.sh PRESET [TARGET...]
# A terminal shows one line of progress, a file or a pipe nothing but what goes wrong.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
preset=${1:?usage: build.sh PRESET [TARGET...]}
shift

FORETRACE_COMPILER_LAUNCHER=${FORETRACE_COMPILER_LAUNCHER-$(command -v ccache || true)}
CMAKE_BUILD_PARALLEL_LEVEL=${CMAKE_BUILD_PARALLEL_LEVEL:-$(.ci/jobs.sh)}
export FORETRACE_COMPILER_LAUNCHER CMAKE_BUILD_PARALLEL_LEVEL

log=build/$preset.configure.log
mkdir -p build
cmake --preset "$preset" --log-level=WARNING >"$log" || { tail -n 40 "$log" >&2; exit 1; }

quiet=--quiet
if [ -t 1 ]; then
  quiet=
  export NINJA_STATUS="building $preset: %f of %t, %e s  "
fi
cmake --build --preset "$preset" ${1:+--target "$@"} ${quiet:+-- --quiet}
