#!/usr/bin/env bash
# Random clouds and random frames: Open vSwitch with Kasane's flows does what the reference says, byte for byte.
set -euo pipefail

bin=${KASANE_BIN:-$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)/build/bin}
# Seeds that are known to agree: what was fixed stays fixed. New ones are for the long form, which still finds rare
# frames on which the two differ. Kinds that do not agree yet are left out by default: see tests/random/kinds.cc.
clouds=${KASANE_CLOUDS:-12}
seed=7007
if [ -n "${KASANE_TEST_FULL:-}" ]; then
  clouds=${KASANE_CLOUDS:-300}
  seed=$(date +%s)
fi
"$bin/kasane-differential" --clouds "$clouds" --packets 200 --seed "${KASANE_SEED:-$seed}" \
  --kinds "${KASANE_KINDS:-default}"
