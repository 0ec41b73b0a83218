#!/usr/bin/env bash
# An old and a new build of PNH, with the same profiles: bench/pair.sh OLD-pnh [GROUP …], writes bench/results/pair.md.
# OLD-pnh is a published program (dotnet publish src/Pnh.Api -c Release -r linux-x64 --self-contained false -o FOLDER, in a checkout of the old commit); the new one is this tree,
# or PNH_PROGRAM. Groups: broadcast broadcast-acked members members-acked one one-acked ndjson groups mixed idle stop (all of them by default). Server on core 0, load tester on core 1.
# The sides take turns, each run has a fresh server. PNH_PAIRS (8), PNH_SECONDS (12), PNH_WARM (15), PNH_OUTPUT change what they say; PNH_RUNS=file keeps the runs, and adds to what is in it.
# The exit code is 1 when a group's work per CPU second is below 0.97 of the old build's, or a run was not clean.
set -eu -o pipefail
cd "$(dirname "$0")/.."
. bench/hub.sh
need node curl taskset dotnet

old=${1:?usage: bench/pair.sh OLD-pnh [GROUP …]}
shift
[ -x "$old" ] || { echo "$old is no program" >&2; exit 2; }
groups=("$@")
[ "${#groups[@]}" -gt 0 ] || groups=(broadcast broadcast-acked members members-acked one one-acked ndjson groups mixed idle stop)
pairs=${PNH_PAIRS:-8}
# After 8 s of warming the build with more code to compile was 3 to 5 % behind in a broadcast, after 15 s within 2 %.
common=(--seconds "${PNH_SECONDS:-12}" --warm "${PNH_WARM:-15}")

# What each group runs: the profile and its options.
profile() {
  case $1 in
    broadcast | one | ndjson | groups | mixed) work=("$1" "${common[@]}") ;;
    broadcast-acked | one-acked) work=("${1%-acked}" --class message "${common[@]}") ;;
    members) work=(broadcast --as members "${common[@]}") ;;
    members-acked) work=(broadcast --as members --class message "${common[@]}") ;;
    idle) work=("$1" --linger 3) ;;
    stop) work=("$1") ;;
    *) echo "no such group: $1" >&2; exit 2 ;;
  esac
}

for group in "${groups[@]}"; do profile "$group"; done
publish_hub
new=$program
build_generator
runs=${PNH_RUNS:-$scratch/runs.jsonl}
# Pairs are counted on from what the file has: a ratio is taken within a pair.
former=$({ grep -o '"pair":[0-9]*' "$runs" 2>/dev/null || true; } | cut -d: -f2 | sort -n | tail -1)
former=${former:-0}

# run GROUP SIDE: a fresh hub of that build, one run, a line of JSON. A run that saw something wrong is kept: the table says so.
run() {
  local group=$1 side=$2
  if [ "$side" = old ]; then program=$old; else program=$new; fi
  profile "$group"
  # Sessions that linger for 60 s make a pair last seven minutes.
  start_hub $([ "$group" = idle ] && echo --Pnh:Sockets:Linger=00:00:03)
  timeout 600 taskset -c 1 "$generator" "${work[@]}" --peer pnh --port "$port" --operations-port "$operations" --key "$key" --secret-file "$data/demo.hs256" \
    --server "$hub" --label "$group:$side" --pair $((former + pair)) --json >>"$runs" || echo "$group:$side failed with $?" >&2
  stop "$hub"
  rm -rf "$data"
}

for pair in $(seq "$pairs"); do
  for group in "${groups[@]}"; do
    echo "= pair $pair of $pairs, $group" >&2
    # Who is second meets a warmer machine: that is the other side's luck in the next pair.
    if [ $(((former + pair) % 2)) -eq 1 ]; then order="old new"; else order="new old"; fi
    for side in $order; do run "$group" "$side"; done
  done
done

mkdir -p bench/results
output=${PNH_OUTPUT:-bench/results/pair.md}
code=0
"$generator" pair "$runs" "$output" "\`bench/pair.sh\`, $pairs pairs of ${groups[*]}: ${common[1]} s measured after ${common[3]} s of warming. $(nproc) cores, .NET $(dotnet --version), old $("$old" --version)${PNH_OLD_VERSION:+ ($PNH_OLD_VERSION)}, new $version, $(date -u +%Y-%m-%d)." || code=$?
cat "$output"
exit "$code"
