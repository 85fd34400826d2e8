#!/usr/bin/env bash
# Builds libopenvswitch from Debian's openvswitch-source and prints the folder that holds it.
#
#   deploy/build-libopenvswitch.sh          build it, unless it is there
#   deploy/build-libopenvswitch.sh --path   only print the folder
#
# Debian ships Open vSwitch's programs, but not its library for development. The result is kept outside
# of the build tree (KASANE_CACHE, default ~/.cache/kasane), stamped with version and flags, so that all
# build trees share it. Safe to run at the same time from several builds.
set -euo pipefail

tarball=/usr/src/openvswitch/openvswitch.tar.gz
# Without debugging information and dependency files, which take a quarter of its time: it is built once.
configure_flags=(--disable-shared --disable-libcapng --disable-dependency-tracking CFLAGS=-O2)
revision=2 # Of this recipe: raise it when the steps below change.

if [ ! -r "$tarball" ]; then
  echo "$0: $tarball is missing: install Debian's openvswitch-source (deploy/install-deps.sh does)" >&2
  exit 1
fi

version=$(dpkg-query -W -f '${Version}' openvswitch-source)
stamp=$(printf '%s\n' "$version" "${configure_flags[@]}" "$revision" | sha256sum | cut -c1-12)
cache=${KASANE_CACHE:-${HOME:-/root}/.cache/kasane}
target=$cache/libopenvswitch-$stamp
if [ "${1:-}" = --path ]; then
  echo "$target"
  exit 0
fi
mkdir -p "$cache"

exec 9>"$cache/libopenvswitch.lock"
flock 9
if [ ! -r "$target/lib/.libs/libopenvswitch.a" ] || [ ! -r "$target/lib/.libs/libopenvswitchavx512.a" ]; then
  echo "building libopenvswitch $version (once, about a minute)..." >&2
  work=$(mktemp -d "$cache/build.XXXXXX")
  trap 'rm -rf "$work"' EXIT
  tar -xzf "$tarball" -C "$work" --strip-components=1
  log=$cache/libopenvswitch.log
  if ! (
    cd "$work"
    # dash: most of configure's time is the shell.
    CONFIG_SHELL=/bin/dash ./configure "${configure_flags[@]}"
    # Objects by make's own rule: libtool, a shell script, takes as long as the compiler does. What Makefile makes
    # for an object of libtool's is made beforehand.
    cat >kasane.mk <<'EOF_MAKE'
objects = $(lib_libopenvswitch_la_OBJECTS:.lo=.o)
generated = $(filter lib/%.inc lib/%.inc1 lib/%.inc2,$(CLEANFILES))
kasane-lib: $(BUILT_SOURCES) $(generated)
	$(MAKE) -f Makefile -f kasane.mk kasane-objects
kasane-objects: lib/libopenvswitchavx512.la $(objects)
	$(AR) cr lib/.libs/libopenvswitch.a $(objects)
EOF_MAKE
    make -s -j"$(nproc)" -f Makefile -f kasane.mk kasane-lib
  ) >"$log" 2>&1; then
    echo "$0: the build failed; see $log" >&2
    tail -n 20 "$log" >&2
    exit 1
  fi
  rm -rf "$target" # Half of one: somebody cleaned up.
  mv -T "$work" "$target" # Atomic: a reader sees all of it or nothing.
  trap - EXIT
fi
echo "$target"
