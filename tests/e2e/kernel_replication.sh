#!/usr/bin/env bash
# Replication to 3,000 VTEPs and 2,000 local ports on the kernel's Open vSwitch, in user-mode Linux, which makes some six
# ports a second. With --full only.
source "$(dirname "$0")/lib.sh"

if [ -z "${KASANE_TEST_FULL:-}" ]; then
  echo "skipped: takes ten minutes; run with --full"
  exit 0
fi
mkdir "$work/out"
KASANE_UML_TIMEOUT=3000 "$top/tests/lab/uml/run.sh" "$work/out" "$bin/ovs_replication_real_test"
