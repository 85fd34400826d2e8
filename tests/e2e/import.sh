#!/usr/bin/env bash
# Each dump of tests/data/dumps is imported into a controller of its own: as much of it is taken whole, in part and
# left out as dumps_expected.json says, for the reasons that it names, and importing it again changes nothing.
# What a dry run says is what is then done.
source "$(dirname "$0")/lib.sh"

dumps=$top/tests/data/dumps
listen=127.0.0.1:$((20000 + $$ % 10000))
controller=

ctl() { "$bin/kasanectl" --controller "$listen" "$@"; }

start_controller() {
  rm -f "$work"/store*
  "$bin/kasane-controller" --listen "$listen" --store "$work/store.db" >"$work/controller.log" 2>&1 &
  controller=$!
  wait_for 10 ctl hosts >/dev/null 2>&1
}

stop_controller() {
  kill "$controller"
  wait "$controller" 2>/dev/null || true
}

numbers='{taken_whole, taken_in_part, left_out}'
for dump in "$dumps"/*.json; do
  name=$(basename "$dump" .json)
  start_controller
  ctl import "$dump" -o json --dry-run >"$work/dry" || fail "$name: the dry run failed"
  ctl import "$dump" -o json >"$work/out" || fail "$name: not imported"
  ctl import "$dump" -o json >"$work/again" || fail "$name: not imported again"
  expected=$(jq -ce --arg name "$name" '.[$name]' "$top/tests/data/dumps_expected.json") || fail "$name: nothing is expected"
  for file in dry out again; do
    [ "$(jq -cS "$numbers" "$work/$file")" = "$(jq -cS "$numbers" <<<"$expected")" ] ||
      fail "$name: $file has $(jq -c "$numbers" "$work/$file"), expected $(jq -c "$numbers" <<<"$expected")"
  done
  features=$(jq -c '[.in_part[].not_enforced[].feature] | unique' "$work/out")
  [ "$features" = "$(jq -c '.features // [] | sort' <<<"$expected")" ] || fail "$name: it names $features"
  jq -r '.left_out_resources[].reason' "$work/out" >"$work/reasons"
  while read -r reason; do
    grep -qF -- "$reason" "$work/reasons" || fail "$name: nothing is left out because \"$reason\""
  done < <(jq -r '.reasons // [] | .[]' <<<"$expected")
  jq -e '.changes | .created == 0 and .updated == 0' "$work/again" >/dev/null || fail "$name: imported twice, it changed"
  ctl import "$dump" -v >"$work/text" || fail "$name: no report"
  stop_controller
  echo "$name: $(jq -c "$numbers" "$work/out")"
done

# What the rules of a group that name an address group come to allow is nothing, not everything.
start_controller
ctl import "$dumps/address_groups.json" >/dev/null
ctl get security-groups -o json >"$work/groups"
jq -e '[.["security_groups"][].security_group_rules[]? | select(.id == "rule-1")] |
  length == 1 and .[0].remote_address_group_id == "ag-1"' "$work/groups" >/dev/null ||
  fail "the rule with an address group lost it: $(cat "$work/groups")"
! grep -q rule-3 "$work/groups" || fail "a rule is there without the field that may restrict it"
stop_controller
