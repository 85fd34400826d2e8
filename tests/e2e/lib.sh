# What the end-to-end tests share. Sourced; each test is a script of its own that exits with other than 0 at
# the first thing that is wrong.
set -euo pipefail

top=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
bin=${KASANE_BIN:-$top/build/bin}
lab=e2e_$$
labs=("$lab")  # Those that the test may leave up; add to it before bringing up another one.
shop_ads=$top/tests/data/neutron-shop-ads.json
two_tenants=$top/tests/data/neutron-two-tenants.json
work=$(mktemp -d "${TMPDIR:-/tmp}/kasane-e2e.XXXXXX")

fail() {
  echo "FAIL: $*" >&2
  exit 1
}

lab() { "$bin/kasane-lab" --name "$lab" "$@"; }

clean_up() {
  local status=$? first name
  first=$status
  for name in "${labs[@]}"; do
    # A lab that did not come up as it should is kept readable: its logs go to the test's output.
    if [ "$first" -ne 0 ] && [ -d "/run/kasane-lab/$name" ]; then
      tail -n 15 "/run/kasane-lab/$name"/controller/*.log "/run/kasane-lab/$name"/hosts/*/kasaned.log >&2 || true
    fi
    "$bin/kasane-lab" --name "$name" down || [ "$status" -ne 0 ] || status=1
  done
  rm -rf "$work"
  exit "$status"
}
trap clean_up EXIT

expect_of() { echo "$top/deploy/topologies/$(basename "${1%.*}").expect.yaml"; }

# Living processes that name the lab's directory in their arguments, as each of its daemons does wherever it
# lives, or that live in one of its namespaces.
processes_of() {
  local name=$1 namespace
  pgrep -f "/run/kasane-lab/$name/" || true
  for namespace in /run/netns/kl-"$name"-*; do
    [ -e "$namespace" ] && ip netns pids "$(basename "$namespace")"
  done
  true
}

# Nothing of the lab is left: no namespace, no process, no file.
expect_nothing_left() {
  local name=$1
  ! compgen -G "/run/netns/kl-$name-*" >/dev/null || fail "namespaces are left: $(echo /run/netns/kl-"$name"-*)"
  ! compgen -G "/run/kasane-lab/$name*" >/dev/null || fail "files are left: $(echo /run/kasane-lab/"$name"*)"
  local processes
  processes=$(processes_of "$name")
  [ -z "$processes" ] || fail "processes are left: $processes"
}

# wait_for SECONDS COMMAND...: until it succeeds. For what announces nothing.
wait_for() {
  local deadline=$((SECONDS + $1))
  shift
  until "$@"; do
    [ "$SECONDS" -lt "$deadline" ] || fail "still not so: $*"
    sleep 0.02
  done
}

# interrupt PID OUTPUT: ends a run of cases by SIGTERM, which it must notice; OUTPUT is what it printed.
interrupt() {
  local status=0
  kill -TERM "$1"
  wait "$1" || status=$?
  [ "$status" = 130 ] || fail "an interrupted run exits with $status: $(cat "$2")"
}

# port_id VM: the id of the port of this name.
port_id() { jq -er --arg name "$1" '.ports[] | select(.name == $name) | .id' "$shop_ads"; }
# vni NETWORK
vni() { jq -er --arg name "$1" '.networks[] | select(.name == $name) | ."provider:segmentation_id"' "$shop_ads"; }
# address VM FAMILY: its address in shop-ads that has a "." (4) or a ":" (6).
address() {
  local mark=.
  [ "$2" = 4 ] || mark=:
  jq -er --arg name "$1" --arg mark "$mark" \
    '.ports[] | select(.name == $name) | .fixed_ips[].ip_address | select(contains($mark))' "$shop_ads"
}
