#!/usr/bin/env bash
# Builds libopenvswitch from Debian's openvswitch-source and prints the folder that holds it.
#
# Debian ships Open vSwitch's programs, but not its library for development. The result is kept outside
# of the build tree (KASANE_CACHE, default ~/.cache/kasane), stamped with version and flags, so that all
# build trees share it. Safe to run at the same time from several builds.
set -euo pipefail

tarball=/usr/src/openvswitch/openvswitch.tar.gz
configure_flags=(--disable-shared --disable-libcapng)
revision=1 # Of this recipe: raise it when the steps below change.

if [ ! -r "$tarball" ]; then
  echo "$0: $tarball is missing: install Debian's openvswitch-source (deploy/install-deps.sh does)" >&2
  exit 1
fi

version=$(dpkg-query -W -f '${Version}' openvswitch-source)
stamp=$(printf '%s\n' "$version" "${configure_flags[@]}" "$revision" | sha256sum | cut -c1-12)
cache=${KASANE_CACHE:-${HOME:-/root}/.cache/kasane}
target=$cache/libopenvswitch-$stamp
mkdir -p "$cache"

exec 9>"$cache/libopenvswitch.lock"
flock 9
if [ ! -d "$target" ]; then
  echo "building libopenvswitch $version (once, about a minute)..." >&2
  work=$(mktemp -d "$cache/build.XXXXXX")
  trap 'rm -rf "$work"' EXIT
  tar -xzf "$tarball" -C "$work" --strip-components=1
  log=$cache/libopenvswitch.log
  if ! (
    cd "$work"
    ./configure "${configure_flags[@]}"
    printf 'kasane-lib: $(BUILT_SOURCES)\n\t$(MAKE) lib/libopenvswitch.la\n' >kasane.mk
    make -s -j"$(nproc)" -f Makefile -f kasane.mk kasane-lib
  ) >"$log" 2>&1; then
    echo "$0: the build failed; see $log" >&2
    tail -n 20 "$log" >&2
    exit 1
  fi
  mv -T "$work" "$target" # Atomic: a reader sees all of it or nothing.
  trap - EXIT
fi
echo "$target"
