#!/usr/bin/env bash
# The differential test finds what it is there for: each mutant takes one fix out of the tables and flows, never out of
# the reference, and must be found.
#
#   tests/long/mutants.sh [--seed SEED] [--clouds CLOUDS] [NAME...]
#
# A mutant is a patch in tests/differential/mutants/, by default each of them; its head says which fault it brings back.
# It is built in build/mutants/ (ccache makes that short) and sent random clouds of 200 frames, from SEED (50000) on,
# until it diverges, at most CLOUDS (60). Where the fix is in code that the reference shares, as the controller's, the
# patch names a case, which must fail. Without NAME it first shows that these clouds agree without a mutant. Exit 1 if
# a mutant is not found, does not apply any more or does not build.
set -uo pipefail

top=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
cd "$top" || exit 1
patches=$top/tests/differential/mutants
tree=$top/build/mutants/tree
log=$top/build/mutants/log
seed=50000
clouds=60
failed=0

die() {
  echo "mutants.sh: $*" >&2
  exit 2
}

# The sources as they are here, in a tree of their own; built as they are, so that a mutant costs what it changes.
prepare() {
  rm -rf "$tree"
  mkdir -p "$tree"
  git ls-files -z --cached --others --exclude-standard |
    tar --create --null --files-from=- --ignore-failed-read 2>/dev/null | tar --extract --directory="$tree"
  (cd "$tree" && cmake --preset release) >"$log" 2>&1 || die "cmake failed: $log"
  build || die "the tree does not build: $log"
}

build() { cmake --build "$tree/build" --target kasane-differential kasane-lab >"$log" 2>&1; }

# head FIELD PATCH
head_of() { sed -n "s/^$1: //p;/^--- /q" "$2"; }

# By the differential test: 1 if no cloud diverges.
by_frames() {
  local last
  "$tree/build/bin/kasane-differential" --clouds "$clouds" --packets 200 --seed "$seed" --stop >"$log" 2>&1
  local status=$?
  last=$(tail -n 1 "$log")
  [ "$status" -le 1 ] || { result="FAILED: $last"; return 1; }
  result="$(sed -E 's/^([0-9]+) clouds.*: ([0-9]+) frames.*/\2 frames, \1 clouds/' <<<"$last")"
  [ "$status" -eq 1 ] && result="found in $result" && return
  result="NOT FOUND in $result"
  return 1
}

by_case() {
  local name
  name=$(basename "$1" .yaml)
  "$tree/build/bin/kasane-lab" run "$1" >"$log" 2>&1
  [ $? -eq 1 ] && result="found by the case $name" && return
  result="NOT FOUND by the case $name"
  return 1
}

# try PATCH: sets `result`.
try() {
  local patch=$1 of_case
  of_case=$(head_of Case "$patch")
  (cd "$tree" && patch -p1 --forward --no-backup-if-mismatch) <"$patch" >"$log" 2>&1 || { result="DOES NOT APPLY"; return 1; }
  local status=0
  if ! build; then
    result="DOES NOT BUILD"
    status=1
  elif [ -n "$of_case" ]; then
    by_case "$of_case" || status=1
  else
    by_frames || status=1
  fi
  (cd "$tree" && patch -p1 --reverse --no-backup-if-mismatch) <"$patch" >>"$log" 2>&1 || die "cannot take $patch out again: $log"
  return "$status"
}

names=()
while [ $# -gt 0 ]; do
  case $1 in
    --seed | --clouds)
      [[ ${2:-} =~ ^[0-9]+$ ]] || die "$1 needs a number"
      [ "$1" = --seed ] && seed=$2 || clouds=$2
      shift
      ;;
    -h | --help)
      sed -n '2,/^set/s/^# \{0,1\}//p' "${BASH_SOURCE[0]}"
      exit 0
      ;;
    -*) die "unknown option $1; see --help" ;;
    *)
      [ -f "$patches/$1.patch" ] || die "there is no mutant $1 in $patches"
      names+=("$1")
      ;;
  esac
  shift
done
mkdir -p "$(dirname "$log")"
prepare
if [ ${#names[@]} -eq 0 ]; then
  # What diverges without a mutant says nothing about one.
  by_frames && die "a divergence without any mutant, $result: $log"
  [[ $result == "NOT FOUND"* ]] || die "$result"
  echo "no mutant: ${result#NOT FOUND in } agree"
  for patch in "$patches"/*.patch; do names+=("$(basename "$patch" .patch)"); done
fi
for name in "${names[@]}"; do
  SECONDS=0
  try "$patches/$name.patch" || failed=$((failed + 1))
  printf '%-40s %-40s %4d s\n' "$name" "$result" "$SECONDS"
done
echo "$((${#names[@]} - failed)) found, $failed not"
[ "$failed" -eq 0 ]
