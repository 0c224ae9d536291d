#!/usr/bin/env bash
# Brings what a make target needs from Debian's packages: .ci/setup.sh [build] [python] [test] [tidy] [bench] [package] [page] [coverage]
# As root it installs what is missing and says so; otherwise it prints the one line to run.
set -euo pipefail

# package  what shows that it is there: a command, or a file below an include folder
readonly build_set="
  g++               command:g++
  cmake             command:cmake
  ninja-build       command:ninja
  ccache            command:ccache
  coinor-libclp-dev include:coin/Clp_C_Interface.h
  libarchive-dev    include:archive.h
  libboost-dev      include:boost/version.hpp
  libcli11-dev      include:CLI/CLI.hpp
  libfmt-dev        include:fmt/format.h
  libisal-dev       include:isa-l/igzip_lib.h
  libprotozero-dev  include:protozero/pbf_writer.hpp
  libre2-dev        include:re2/re2.h
  libsimdjson-dev   include:simdjson.h
  libspdlog-dev     include:spdlog/spdlog.h
  libsqlite3-dev    include:sqlite3.h
  libyaml-cpp-dev   include:yaml-cpp/yaml.h
  nlohmann-json3-dev include:nlohmann/json.hpp
  zlib1g-dev        include:zlib.h"
readonly python_set="
  pybind11-dev      include:pybind11/pybind11.h
  python3-distributed package
  python3-dev       package"
readonly test_set="
  clang             command:clang++
  clang-format      command:clang-format
  libclang-rt-dev   package
  doctest-dev       include:doctest/doctest.h"
readonly tidy_set="
  clang             command:clang++
  clang-format      command:clang-format
  clang-tidy        command:clang-tidy
  doctest-dev       include:doctest/doctest.h"
readonly bench_set="
  libbenchmark-dev  include:benchmark/benchmark.h
  libsimgrid-dev    include:simgrid/s4u.hpp
  python3-networkx  package"
readonly package_set="
  binutils          command:strip
  dpkg-dev          command:dpkg-shlibdeps"
readonly page_set="
  clang-19          command:clang++-19
  lld-19            command:wasm-ld-19
  libc++-19-dev-wasm32 package
  libclang-rt-19-dev-wasm32 package
  nodejs            command:node"
readonly coverage_set="
  gcovr             command:gcovr"
# What the build does without, if it cannot be had.
readonly optional=" pybind11-dev python3-dev python3-distributed ccache libarchive-dev libisal-dev libyaml-cpp-dev clang clang-format libclang-rt-dev "

has_package() {
  [ "$(dpkg-query -W -f '${db:Status-Status}' "$1" 2>/dev/null)" = installed ]
}

has_header() {
  local folder
  for folder in /usr/local/include /usr/include "/usr/include/$(uname -m)-linux-gnu" \
    ${CMAKE_PREFIX_PATH:+${CMAKE_PREFIX_PATH//[:;]/\/include }/include}; do
    [ -e "$folder/$1" ] && return 0
  done
  return 1
}

is_there() { # package, probe
  case "$2" in
    command:*) command -v "${2#command:}" >/dev/null 2>&1 ;;
    include:*) has_header "${2#include:}" ;;
    *) command -v dpkg-query >/dev/null 2>&1 || return 0; has_package "$1" ;;
  esac
}

missing_of() { # rows of "package probe"
  local package probe
  while read -r package probe; do
    [ -z "$package" ] || is_there "$package" "$probe" || echo "$package"
  done <<<"$1"
}

try_thrice() {
  local attempt
  for attempt in 1 2 3; do
    if "$@"; then return 0; fi
    [ "$attempt" = 3 ] || { echo "setup: '$1 $2' failed, trying again" >&2; sleep $((attempt * 10)); }
  done
  return 1
}

install_packages() {
  local -a apt=(apt-get -q -y -o Acquire::Retries=3 -o DPkg::Lock::Timeout=600)
  export DEBIAN_FRONTEND=noninteractive
  try_thrice "${apt[@]}" update </dev/null
  try_thrice "${apt[@]}" install --no-install-recommends "$@" </dev/null
}

main() {
  local wanted="" name
  for name in "${@:-build}"; do
    local set_name="${name}_set"
    [ -n "${!set_name:-}" ] || { echo "setup: unknown set '$name' (build python test tidy bench package page coverage)" >&2; exit 2; }
    wanted+="${!set_name}"$'\n'
  done
  local -a missing
  mapfile -t missing < <(missing_of "$wanted" | sort -u)
  [ "${#missing[@]}" -gt 0 ] || exit 0

  local line="apt-get install -y --no-install-recommends ${missing[*]}"
  if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1; then
    local log
    log=$(mktemp)
    echo "setup: installing ${missing[*]}"
    if install_packages "${missing[@]}" >"$log" 2>&1; then
      rm -f "$log"
      return
    fi
    tail -n 20 "$log" >&2
    echo "setup: could not install (all of it: $log)" >&2
    line="apt-get update && $line"
  else
    line="sudo $line"
  fi

  local -a needed=()
  for name in "${missing[@]}"; do
    [[ "$optional" == *" $name "* ]] || needed+=("$name")
  done
  if [ "${#needed[@]}" -eq 0 ]; then
    echo "setup: going on without ${missing[*]}; to have them: $line"
    return
  fi
  echo "setup: packages are missing; run: $line" >&2
  exit 1
}

main "$@"
