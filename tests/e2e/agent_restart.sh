#!/usr/bin/env bash
# An agent that is killed or restarted costs no packet, neither on its own host nor at the other end.
source "$(dirname "$0")/lib.sh"

lab up "$shop_ads"

# stream_through FROM ADDRESS COMMAND...: no packet of a stream of 1,000 a second is lost meanwhile.
stream_through() {
  local from=$1 to=$2 line stream pid
  shift 2
  exec {stream}< <(exec "$bin/kasane-lab" --name "$lab" stream "$from" "$to" --rate 1000)
  pid=$!
  read -rt 20 -u "$stream" line || fail "no stream from $from to $to"
  "$@"
  kill -INT "$pid"
  read -rt 20 -u "$stream" line || fail "the stream from $from to $to said nothing"
  exec {stream}<&-
  wait "$pid" || fail "$*: $line"
  echo "$*: $line"
}

rounds=1
[ -z "${KASANE_TEST_FULL:-}" ] || rounds=25
for ((round = 0; round < rounds; ++round)); do
  # hv1's agent is the sender's, hv2's the receiver's; bridged and routed, IPv4 and IPv6.
  stream_through shop-front1 "$(address shop-back2 4)" lab restart-agent hv1 --kill
  stream_through shop-front1 "$(address shop-front2 6)" lab restart-agent hv2 --kill
  stream_through shop-front1 "$(address shop-back2 6)" lab restart-agent hv1
  stream_through shop-front1 "$(address shop-front2 4)" lab restart-agent hv2
done

lab matrix --expect "$(expect_of "$shop_ads")" | tail -n 1
