#!/usr/bin/env bash
# Installs the Debian packages that Kasane is built, tested and tried with.
#
# Says and does nothing when all of them are there. Open vSwitch's own service is not started by the
# installation: the lab needs the programs alone, each virtual hypervisor runs its own.
set -euo pipefail

packages=(
  # Build
  bzip2 ccache clang clang-format clang-tidy cmake g++ libclang-rt-14-dev make ninja-build openvswitch-source
  pkg-config python3
  # Libraries
  libabsl-dev libbenchmark-dev libcli11-dev libfmt-dev libgmock-dev libgrpc++-dev libgtest-dev libnl-3-dev
  libnl-route-3-dev libprotobuf-dev libspdlog-dev libsqlite3-dev libssl-dev libtins-dev libunbound-dev
  libutf8proc-dev libxxhash-dev libyaml-cpp-dev nlohmann-json3-dev protobuf-compiler protobuf-compiler-grpc
  # Lab and tests
  ethtool iproute2 iputils-ping jq openvswitch-switch procps tcpdump user-mode-linux util-linux
)

die() {
  echo "install-deps.sh: $*" >&2
  exit 1
}

missing_packages() {
  # dpkg-query fails for packages it has never heard of; what it prints for the others counts.
  local installed
  installed=$(dpkg-query -W -f '${db:Status-Abbrev}${Package}\n' "${packages[@]}" 2>/dev/null |
    sed -n 's/^ii *//p' || true)
  comm -23 <(printf '%s\n' "${packages[@]}" | sort -u) <(sort -u <<<"$installed")
}

# While apt runs, Open vSwitch's maintainer scripts are told not to start it. A policy that the machine
# already has is left as it is.
policy=/usr/sbin/policy-rc.d
hold_openvswitch_service() {
  [ -e "$policy" ] && return
  trap '$sudo rm -f "$policy"' EXIT
  $sudo tee "$policy" >/dev/null <<'EOF'
#!/bin/sh
# Put here by Kasane's deploy/install-deps.sh while it runs; safe to remove.
case "$1" in openvswitch* | ovs*) exit 101 ;; esac
exit 0
EOF
  $sudo chmod 755 "$policy"
}

command -v dpkg-query >/dev/null && command -v apt-get >/dev/null ||
  die "this is not Debian. Kasane is developed on Debian 12; elsewhere install the equivalents of: ${packages[*]}"

mapfile -t missing < <(missing_packages)
[ "${#missing[@]}" -eq 0 ] && exit 0

sudo=
if [ "$(id -u)" -ne 0 ]; then
  command -v sudo >/dev/null || die "run it as root, or install sudo, to install: ${missing[*]}"
  sudo=sudo
fi

echo "installing ${#missing[@]} Debian packages: ${missing[*]}" >&2
log=$(mktemp "${TMPDIR:-/tmp}/kasane-install-deps.XXXXXX")
run_apt() {
  $sudo env DEBIAN_FRONTEND=noninteractive apt-get -qq -o Dpkg::Use-Pty=0 "$@" >>"$log" 2>&1 && return
  tail -n 20 "$log" >&2
  die "apt-get $1 failed; all of its output is in $log"
}
hold_openvswitch_service
run_apt update
run_apt install -y --no-install-recommends "${missing[@]}"
rm -f "$log"

mapfile -t missing < <(missing_packages)
[ "${#missing[@]}" -eq 0 ] || die "apt-get succeeded, but these are still not installed: ${missing[*]}"
