#!/usr/bin/env bash
# `down` removes a lab in whatever state it is: daemons killed, namespaces deleted by hand, `up` killed
# half way.
source "$(dirname "$0")/lib.sh"

lab down
expect_nothing_left "$lab"

# Daemons die, namespaces lose their names while processes live in them, the records are lost.
lab up "$two_tenants"
pkill -KILL -f "^[^ ]*kasaned --config /run/kasane-lab/$lab/hosts/hv1/" || fail "no agent of hv1 to kill"
ip netns delete "kl-$lab-hv2"
ip netns delete "kl-$lab-tenant-a-vm1"
rm -rf "/run/kasane-lab/$lab/hosts/hv1" "/run/kasane-lab/$lab/processes"
lab down
expect_nothing_left "$lab"

# `up` killed at different moments: as soon as there is a namespace, a switch, an agent, or a bit later.
made() { compgen -G "$1" >/dev/null; }
kill_up_when() {
  local up
  "$bin/kasane-lab" --name "$lab" up "$two_tenants" 2>/dev/null &
  up=$!
  wait_for 20 made "$1"
  sleep "$2"
  kill -KILL "$up" 2>/dev/null || true
  wait "$up" 2>/dev/null || true
  lab down
  expect_nothing_left "$lab"
}
moments=(0)
[ -z "${KASANE_TEST_FULL:-}" ] || moments=(0 0.05 0.1 0.2 0.4 0.8)
for moment in "${moments[@]}"; do
  kill_up_when "/run/netns/kl-$lab-*" "$moment"
  kill_up_when "/run/kasane-lab/$lab/hosts/hv1/ovs/db.sock" "$moment"
  kill_up_when "/run/kasane-lab/$lab/hosts/hv2/kasaned.log" "$moment"
done

# And one that refuses its topology leaves nothing to remove.
echo '{"networks": [{"id":' >"$work/bad.json"
if lab up "$work/bad.json" 2>"$work/errors"; then fail "a topology that is cut short came up"; fi
grep -q 'bad.json: line 2' "$work/errors" || fail "the fault is not named: $(cat "$work/errors")"
expect_nothing_left "$lab"
