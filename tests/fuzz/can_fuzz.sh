#!/usr/bin/env bash
# Says whether this machine can fuzz: clang++ with libFuzzer and the sanitizers. If not, says how to get there.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
echo 'extern "C" int LLVMFuzzerTestOneInput(const unsigned char*, unsigned long) { return 0; }' >"$folder/probe.cpp"
if ! clang++ -fsanitize=fuzzer,address,undefined "$folder/probe.cpp" -o "$folder/probe" 2>/dev/null; then
  echo "fuzz: left out, no clang++ with libFuzzer here; to have it: apt-get install clang libclang-rt-dev"
  exit 1
fi
