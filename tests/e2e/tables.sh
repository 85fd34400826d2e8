#!/usr/bin/env bash
# `kasanectl tables`: what an agent says of its host is what the controller's records say of it, who has an address is
# named, and what is not known is named with what may be meant.
source "$(dirname "$0")/lib.sh"

lab up "$shop_ads"
tables() { lab exec hv1 kasanectl tables "$@"; }

tables -o json >"$work/agent.json"
tables --host hv1 -o json >"$work/records.json"
jq -e '.entries | length > 50' "$work/agent.json" >/dev/null || fail "hardly any entries: $(head -c 500 "$work/agent.json")"
diff "$work/agent.json" "$work/records.json" >&2 || fail "the agent and the controller's records disagree about hv1"

# The MAC of a VM here leads to its port; from another host the same MAC leads here.
port=$(port_id shop-front1)
tables --owner shop-front1 --family mac -o json >"$work/here.json"
jq -e --arg port "$port" '[.entries[] | select(.in_force and .claimants[0].rank == "local" and
    .claimants[0].value == "to port " + $port)] | length == 1' "$work/here.json" >/dev/null || fail "not here: $(cat "$work/here.json")"
tables --host hv2 --owner shop-front1 --family mac -o json >"$work/there.json"
jq -e '[.entries[] | select(.in_force and .claimants[0].rank == "remote" and
    (.claimants[0].value | startswith("to host hv1 ")))] | length == 1' "$work/there.json" >/dev/null || fail "not there: $(cat "$work/there.json")"

tables --network shop-front --family answer | head -n 1 | grep -q '^FAMILY .* IN FORCE .* VALUE$' || fail "no table"

# expect_refused WORDS ARGUMENT...
expect_refused() {
  local words=$1
  shift
  if tables "$@" >"$work/out" 2>&1; then fail "$* was taken"; fi
  grep -qF -- "$words" "$work/out" || fail "$*: no \"$words\" in: $(cat "$work/out")"
}
expect_refused 'did you mean shop-front?' --network shop-frnt
expect_refused 'did you mean shop-front1?' --owner shop-frnt1
expect_refused 'did you mean answer?' --family answr
expect_refused 'the controller knows no host hv9' --host hv9
