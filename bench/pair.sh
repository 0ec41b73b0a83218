#!/usr/bin/env bash
# An old and a new build of PNH, with the same profiles: bench/pair.sh OLD-pnh [GROUP …], writes bench/results/pair.md.
# OLD-pnh is a published program (dotnet publish src/Pnh.Api -c Release -r linux-x64 --self-contained false -o FOLDER, in a checkout of the old commit); the new one is this tree,
# or PNH_PROGRAM. Groups: broadcast broadcast-acked members members-acked one one-acked ndjson groups mixed idle stop (all of them by default). Hubs on core 0, load testers on core 1.
# Both builds run at the same time, each with a load tester of its own: the machine's speed, which moves by a tenth from one second to the next, is the same for both. Only mixed, which
# fills the core, and idle, whose resets are bursts that would wait for each other, are run by one after the other. After PNH_TURNS pairs hubs are started anew and warmed; for idle and stop, which count from a start, each pair has fresh ones.
# PNH_PAIRS (8), PNH_TURNS (4), PNH_SECONDS (8), PNH_WARM (25), PNH_OUTPUT change what they say; PNH_RUNS=file keeps the runs, and adds to what is in it.
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
turns=${PNH_TURNS:-4}
seconds=${PNH_SECONDS:-8}
# A build with more code still compiles 20 s after its start: after 8 s of warming it was 3 to 5 % behind in a broadcast, after 15 s within 2 %.
warm=${PNH_WARM:-25}
# The load tester is a new process in each run and has to be compiled too.
again=4

# What each group runs: the profile and its options. Two hubs share a core: where each event comes when it is due, not as fast as answers do, there are fewer.
profile() {
  case $1 in
    broadcast | one | ndjson | groups | mixed) work=("$1") ;;
    broadcast-acked) work=(broadcast --class message --rate 8) ;;
    one-acked) work=(one --class message) ;;
    members) work=(broadcast --as members) ;;
    members-acked) work=(broadcast --as members --class message --rate 8) ;;
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
declare -A port_of operations_of key_of data_of hub_of

# Who is first: that is the other side's luck in the next pair.
order() { if [ $(((former + pair) % 2)) -eq 1 ]; then echo old new; else echo new old; fi; }

# A fresh hub of each build. Sessions that linger for 60 s would make a pair of idle last seven minutes, and be there in the next run of other groups.
begin() {
  for side in $(order); do
    if [ "$side" = old ]; then program=$old; else program=$new; fi
    start_hub --Pnh:Sockets:Linger=00:00:03
    port_of[$side]=$port operations_of[$side]=$operations key_of[$side]=$key data_of[$side]=$data hub_of[$side]=$hub
  done
}

end() {
  for side in old new; do
    stop "${hub_of[$side]}"
    rm -rf "${data_of[$side]}"
  done
}

# load SIDE [OPTION …]: one run, a line of JSON in $scratch/SIDE. A run that saw something wrong is kept: the table says so.
load() {
  local side=$1
  shift
  timeout 600 taskset -c 1 "$generator" "${work[@]}" --peer pnh --port "${port_of[$side]}" --operations-port "${operations_of[$side]}" --key "${key_of[$side]}" \
    --secret-file "${data_of[$side]}/demo.hs256" --server "${hub_of[$side]}" --label "$group:$side" --pair $((former + pair)) --json "$@" >"$scratch/$side" ||
    echo "$group:$side failed with $?" >&2
}

# both [OPTION …]: each build has its run.
both() {
  local loads=()
  for side in $(order); do
    load "$side" "$@" &
    loads+=($!)
    if [ "$group" = mixed ] || [ "$group" = idle ]; then wait "$!"; fi
  done

  wait "${loads[@]}"
}

for group in "${groups[@]}"; do
  profile "$group"
  for pair in $(seq "$pairs"); do
    echo "= $group, pair $pair of $pairs" >&2
    case $group in
      idle | stop)
        begin
        both
        end
        ;;
      *)
        if [ $(((pair - 1) % turns)) -eq 0 ]; then
          begin
          both --warm "$warm" --seconds 1
        fi

        sleep 4 # the sessions of the run before linger
        both --warm "$again" --seconds "$seconds"
        if [ $((pair % turns)) -eq 0 ] || [ "$pair" -eq "$pairs" ]; then end; fi
        ;;
    esac

    cat "$scratch/old" "$scratch/new" >>"$runs"
  done
done

mkdir -p bench/results
output=${PNH_OUTPUT:-bench/results/pair.md}
code=0
"$generator" pair "$runs" "$output" "\`bench/pair.sh\`, $pairs pairs of ${groups[*]}: both at the same time (idle and mixed: in turns), $seconds s, hubs started anew after $turns pairs and warmed for $warm s (idle and stop: after each). $(nproc) cores, .NET $(dotnet --version), old $("$old" --version)${PNH_OLD_VERSION:+ ($PNH_OLD_VERSION)}, new $version, $(date -u +%Y-%m-%d)." || code=$?
cat "$output"
exit "$code"
