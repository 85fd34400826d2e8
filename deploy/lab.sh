#!/usr/bin/env bash
# Kasane on one machine, in one command: installs, builds, and brings up a recorded topology on virtual
# hypervisors made of network namespaces.
#
#   deploy/lab.sh [up] [TOPOLOGY]     bring it up, try who reaches whom, leave it running
#   deploy/lab.sh matrix [TOPOLOGY]   try again who reaches whom
#   deploy/lab.sh down                remove it
#
# TOPOLOGY is a resource file or a dump of a real cloud, of which what `kasanectl import` would take is brought up, and
# what is left out is named; default: tests/data/neutron-shop-ads.json. What it should do is written down
# in deploy/topologies/NAME.expect.yaml; the exit status is 0 only if it does, and 3 if nothing is written
# down, so that nothing was tried. KASANE_LAB names the lab (default: lab), so that several can be up.
set -euo pipefail

top=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
bin=$top/build/bin
lab=${KASANE_LAB:-lab}
default_topology=$top/tests/data/neutron-shop-ads.json
timings=()

die() {
  echo "lab.sh: $*" >&2
  exit 1
}

as_root() {
  if [ "$(id -u)" -eq 0 ]; then
    "$@"
  else
    command -v sudo >/dev/null || die "network namespaces need root: run it as root, or install sudo"
    sudo "$@"
  fi
}

kasane_lab() { as_root "$bin/kasane-lab" --name "$lab" "$@"; }

# phase NAME COMMAND...: runs it, and notes how long it took.
phase() {
  local name=$1 start end status=0
  shift
  start=$(date +%s%N)
  "$@" || status=$?
  end=$(date +%s%N)
  timings+=("$(printf '%s %d.%01d s' "$name" $(((end - start) / 1000000000)) $(((end - start) / 100000000 % 10)))")
  return "$status"
}

print_timings() {
  local IFS=,
  echo "took:${timings[*]/#/ }"
}

build() {
  local log=$top/build/lab-build.log
  mkdir -p "$top/build"
  local targets=(kasaned kasane-controller kasanectl kasane-lab)
  echo "building ${targets[*]} (the first time takes some minutes; log: build/lab-build.log)..."
  cd "$top"
  cmake --preset release >"$log" || die "configuring failed; see $log"
  if [ -t 1 ]; then
    cmake --build build --target "${targets[@]}"
  else
    cmake --build build --target "${targets[@]}" >>"$log" 2>&1 || {
      grep -m 5 -B 1 -A 5 -E 'error:|FAILED' "$log" >&2 || tail -n 20 "$log" >&2
      die "the build failed; see $log"
    }
  fi
}

is_up() { [ -x "$bin/kasane-lab" ] && kasane_lab status >/dev/null 2>&1; }

bring_up() {
  [ -r "$topology" ] || die "$topology cannot be read"
  kasane_lab up "$topology"
}

# The topology that the running lab was brought up with.
running_topology() { kasane_lab status | sed -n '1s/.*, topology //p'; }

# A topology that was asked for by name must be the one that runs; one that was not is taken from the lab.
take_running() {
  local running
  running=$(running_topology)
  if [ "$asked" -eq 1 ] && [ "$(realpath -m "$running")" != "$topology" ]; then
    die "lab \"$lab\" is up with $running, not with $topology: deploy/lab.sh down removes it," \
      "or KASANE_LAB=NAME brings up another lab beside it"
  fi
  topology=$running
}

expectation() { echo "$top/deploy/topologies/$(basename "${topology%.*}").expect.yaml"; }

matrix() {
  local expect
  expect=$(expectation)
  if [ ! -e "$expect" ]; then
    echo "lab.sh: there is no $expect to compare with, so nothing was tried" >&2
    return 3
  fi
  kasane_lab matrix --expect "$expect"
}

show_next() {
  local name= prefix= sudo= vm host
  [ "$(id -u)" -eq 0 ] || sudo="sudo "
  if [ "$lab" != lab ]; then
    name=" --name $lab"
    prefix="KASANE_LAB=$lab "
  fi
  read -r host vm < <(kasane_lab status | awk '/VTEP/ { host = $1 } /VMs:/ { print host, $2; exit }') || true
  cat <<EOF

The lab stays up. Where to look next:
  ${sudo}build/bin/kasane-lab$name status
  ${sudo}build/bin/kasane-lab$name exec $host kasanectl ports
  ${sudo}build/bin/kasane-lab$name exec $vm ip address
and ${prefix}deploy/lab.sh down removes it.
EOF
}

up() {
  phase install "$top/deploy/install-deps.sh"
  phase build build
  if is_up; then
    take_running
    echo "lab \"$lab\" is up already, with $topology"
  else
    phase "lab up" bring_up
  fi
  local result=0
  phase matrix matrix || result=$?
  show_next
  print_timings
  return "$result"
}

command=up
case ${1:-} in
  up | down | matrix)
    command=$1
    shift
    ;;
  -h | --help)
    sed -n '2,/^set/s/^# \{0,1\}//p' "${BASH_SOURCE[0]}"
    exit 0
    ;;
esac
[ $# -le 1 ] || die "one topology at a time; see deploy/lab.sh --help"
asked=$#
topology=$(realpath -m "${1:-$default_topology}")

case $command in
  up) up ;;
  matrix)
    is_up || die "lab \"$lab\" is not up: deploy/lab.sh brings it up"
    take_running
    matrix
    ;;
  down)
    [ -x "$bin/kasane-lab" ] || die "$bin/kasane-lab is not there: deploy/lab.sh builds it"
    kasane_lab down
    echo "lab \"$lab\" is removed"
    ;;
esac
