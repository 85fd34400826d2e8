#!/usr/bin/env bash
# The packets between hosts are VXLAN to UDP port 4789 with the VNI of the network that they are for: the
# destination's network when they were routed, which happens at the sender.
source "$(dirname "$0")/lib.sh"

lab up "$shop_ads"
front=$(vni shop-front)
back=$(vni shop-back)

# capture_ping FROM TO-ADDRESS: prints one line per tunnelled packet that hv1's NIC sent or received while
# FROM, a VM on hv1, pinged three times: "SOURCE DESTINATION VNI INNER...".
capture_ping() {
  local from=$1 to=$2 line outer= capture
  exec {capture}< <(exec "$bin/kasane-lab" --name "$lab" exec hv1 tcpdump -nn -l --immediate-mode -i eth0 udp 2>&1)
  local tcpdump=$!
  while read -rt 10 -u "$capture" line && [[ $line != *"listening on"* ]]; do :; done
  lab exec "$from" ping -n -q -c 3 -i 0.2 -W 5 "$to" >&2 || fail "$from does not reach $to"
  while read -rt 10 -u "$capture" line; do
    # "TIME IP 198.18.0.1.50000 > 198.18.0.2.4789: VXLAN, flags [I] (0x08), vni 505", then the inner packet.
    if [[ $line =~ IP\ ([0-9.]+)\.[0-9]+\ \>\ ([0-9.]+)\.([0-9]+): ]] && [[ $line == *VXLAN* || $outer == "" ]]; then
      [ "${BASH_REMATCH[3]}" = 4789 ] || fail "UDP on the underlay that is not VXLAN: $line"
      [[ $line =~ VXLAN,\ flags\ \[I\]\ \(0x08\),\ vni\ ([0-9]+) ]] || fail "not VXLAN: $line"
      outer="$(sed -E 's/.*IP ([0-9.]+)\.[0-9]+ > ([0-9.]+)\.[0-9]+:.*vni ([0-9]+)/\1 \2 \3/' <<<"$line")"
    else
      echo "$outer $line"
      outer=
      # The fence: the last answer to the last ping.
      [[ $line != *"echo reply"*"seq 3,"* ]] || break
    fi
  done
  kill "$tcpdump"
  wait "$tcpdump" 2>/dev/null || true
  exec {capture}<&-
}

# expect_ping FILE REQUEST_VNI REPLY_VNI: three of each, in these directions, and no other echo.
expect_ping() {
  local file=$1
  local requests replies all
  requests=$(grep -c "^198.18.0.1 198.18.0.2 $2 .*echo request" "$file" || true)
  replies=$(grep -c "^198.18.0.2 198.18.0.1 $3 .*echo reply" "$file" || true)
  all=$(grep -c "echo re" "$file" || true)
  if [ "$requests" -ne 3 ] || [ "$replies" -ne 3 ] || [ "$all" -ne 6 ]; then
    cat "$file" >&2
    fail "$requests requests with VNI $2 and $replies replies with VNI $3, of $all packets; expected 3, 3 and 6"
  fi
}

capture_ping shop-front1 "$(address shop-front2 4)" >"$work/bridged4"
expect_ping "$work/bridged4" "$front" "$front"
capture_ping shop-front1 "$(address shop-front2 6)" >"$work/bridged6"
expect_ping "$work/bridged6" "$front" "$front"
capture_ping shop-front1 "$(address shop-back2 4)" >"$work/routed4"
expect_ping "$work/routed4" "$back" "$front"
capture_ping shop-front1 "$(address shop-back2 6)" >"$work/routed6"
expect_ping "$work/routed6" "$back" "$front"
