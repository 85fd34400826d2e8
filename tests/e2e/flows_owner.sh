#!/usr/bin/env bash
# `kasanectl flows --owner PORT` shows exactly the flows that the switch holds for that port, each with the
# stage that made it.
source "$(dirname "$0")/lib.sh"

lab up "$shop_ads"

# The switch's own word: "COOKIE TABLE PRIORITY MATCH" a line.
lab exec hv1 ovs-ofctl -O OpenFlow15 --no-stats dump-flows br-int |
  sed -nE 's/^ *cookie=(0x[0-9a-f]+), table=([0-9]+), (.*)$/\1 \2 \3/p; t
           s/^ *cookie=(0x[0-9a-f]+), (.*)$/\1 0 \2/p' >"$work/switch"
[ -s "$work/switch" ] || fail "the switch holds no flows"

for vm in shop-front1 shop-iso1 ads-back1; do
  port=$(port_id "$vm")
  lab exec hv1 kasanectl flows --owner "$port" -o json >"$work/flows.json"
  jq -e --arg port "$port" '.flows | length > 0 and all(.owner_kind == "port" and .owner_id == $port and .stage != "")' \
    "$work/flows.json" >/dev/null || fail "flows of others, or without a stage: $(cat "$work/flows.json")"

  # The flow that takes in the port's frames carries the owner's cookie: kind in the top 8 bits, the id's
  # hash in the low 48. The drop reason between them is not the owner's.
  ofport=$(lab exec hv1 ovs-vsctl --bare --columns=ofport find interface "external_ids:iface-id=\"$port\"")
  cookie=$(grep -E "^0x[0-9a-f]+ 0 .*in_port=\"?(tap${port:0:11}|$ofport)\"?[, ]" "$work/switch" | head -n 1 | cut -d' ' -f1)
  [ -n "$cookie" ] || fail "no flow in table 0 takes in $vm's frames"
  mask=$((0xff00ffffffffffff))
  while read -r flow_cookie table rest; do
    if [ $((flow_cookie & mask)) -eq $((cookie & mask)) ]; then
      [[ $rest =~ priority=([0-9]+),?([^ ]*)\ +actions= ]] || fail "no priority: $rest"
      echo "$table ${BASH_REMATCH[1]} ${BASH_REMATCH[2]}"
    fi
  done <"$work/switch" | sort >"$work/expected"
  jq -r '.flows[].native' "$work/flows.json" |
    sed -E 's/^table=([0-9]+),priority=([0-9]+),?([^ ]*) actions=.*/\1 \2 \3/' | sort >"$work/shown"
  diff "$work/expected" "$work/shown" >&2 || fail "kasanectl and the switch disagree about $vm's flows"
done

# All owners together are all flows: but for what the switch learned meanwhile (table 21), and what the slow path counts.
shown=$(lab exec hv1 kasanectl flows -o json |
  jq '[.flows[] | select(.stage != "slow_path" and .stage != "meter" and .stage != "learned")] | length')
held=$(grep -cvE '^0x[0-9a-f]+ 21 ' "$work/switch")
[ "$shown" -eq "$held" ] || fail "kasanectl shows $shown flows, the switch holds $held"
