#!/usr/bin/env bash
# Packs what `make release` built as .deb files in build/package, and tries them: unpacked somewhere else, the program
# finds its configs and answers.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
out=build/package
log=build/package.log
rm -rf "$out"
cpack --config build/release/CPackConfig.cmake -B "$out" >"$log" 2>&1 || { tail -n 40 "$log" >&2; exit 1; }
rm -rf "$out/_CPack_Packages"

trace=$PWD/examples/traces/demo_generated_cnn.json.gz
root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT
for package in "$out"/*.deb; do
  dpkg-deb --extract "$package" "$root"
done
(cd "$root" && usr/bin/foretrace whatif "$trace" --accelerator h100_sxm >"$root/answer") || {
  echo "package: the program does not run from another place" >&2
  exit 1
}
ls "$out"/*.deb
