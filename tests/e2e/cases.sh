#!/usr/bin/env bash
# All cases on sim and on real switches; that they can fail, and that nothing is left when they are interrupted.
source "$(dirname "$0")/lib.sh"

if ! "$bin/kasane-lab" run "$top"/tests/cases/*.yaml --datapath sim,ovs >"$work/cases"; then
  grep -v '^ok' "$work/cases" || true
  fail "cases failed"
fi
tail -n 1 "$work/cases"

# A wrong expectation fails on both datapaths.
wrong=$work/wrong.yaml
cp -r "$top/tests/cases/topologies" "$work/"
sed 's/to: r2}/to: r2, answered_by: nobody}/' "$top/tests/cases/ping_across_hosts.yaml" >"$wrong"
if "$bin/kasane-lab" run "$wrong" --datapath sim,ovs -o json >"$work/wrong.json"; then fail "a wrong case passed"; fi
[ "$(jq '[.results[] | select(.failure.seen == "answered by r2")] | length' "$work/wrong.json")" = 2 ] ||
  fail "not both datapaths say who answered: $(cat "$work/wrong.json")"

# What somebody else does to the switch is repaired within a second, and named.
lab up "$two_tenants"
repaired() { lab exec hv1 kasanectl status | grep -q "changed by others $1," && lab exec hv1 kasanectl compare >/dev/null; }
lab exec hv1 kasanectl compare >"$work/compare"
lab exec hv1 ovs-ofctl -O OpenFlow15 add-flow br-int table=7,priority=7,actions=drop
wait_for 2 repaired "1 time"
lab exec hv1 ovs-ofctl -O OpenFlow15 dump-flows br-int table=7 | grep -q priority=7, && fail "a foreign flow stays"
lab exec hv1 ovs-ofctl -O OpenFlow15 del-flows br-int
wait_for 3 repaired "2 times"
lab exec hv1 kasanectl status | grep -q "changed by others.*deleted" || fail "status does not name it: $(lab exec hv1 kasanectl status)"

# An interrupted run leaves no lab.
"$bin/kasane-lab" run "$top/tests/cases/garp_is_delivered.yaml" --datapath ovs >"$work/interrupted" &
runner=$!
wait_for 20 compgen -G "/run/netns/kl-c${runner}_*" >/dev/null
interrupt "$runner" "$work/interrupted"
expect_nothing_left "c${runner}_0"
