#!/usr/bin/env bash
# One node beside a hub with an edge, with the same profiles: bench/edges.sh [GROUP …], writes bench/results/edges-cost.md. Groups: broadcast one one-acked (by default), echo (2,000 clients, each every 3 s), chat (1,000 in 10 rooms).
# "old" is one node that does everything, "new" a hub and an edge, both processes counted. Servers on core 0, load tester on core 1; the sides take turns, each run has fresh servers.
# PNH_PAIRS (5), PNH_SECONDS (8), PNH_WARM (10), PNH_OUTPUT change what they say. What the hub and the edge used of it is printed for each run.
set -eu -o pipefail
cd "$(dirname "$0")/.."
. bench/hub.sh
need node curl taskset dotnet

groups=("$@")
[ "${#groups[@]}" -gt 0 ] || groups=(broadcast one one-acked)
pairs=${PNH_PAIRS:-5}
common=(--seconds "${PNH_SECONDS:-8}" --warm "${PNH_WARM:-10}")
publish_hub
build_generator
runs=$scratch/runs.jsonl
head -c 32 /dev/urandom | base64 >"$scratch/cluster.key"

# Clock ticks of a process so far.
ticks() { awk '{ print $14 + $15 }' "/proc/$1/stat"; }

# run GROUP SIDE PAIR
run() {
  local group=$1 side=$2 pair=$3 work sockets servers edge="" before_hub before_edge
  case $group in
    echo) work=(echo --sessions 2000 --rate 667 "${common[@]}") ;;
    chat) work=(chat --sessions 1000 "${common[@]}") ;;
    *-acked) work=("${group%-acked}" --class message "${common[@]}") ;;
    *) work=("$group" "${common[@]}") ;;
  esac

  if [ "$side" = old ]; then
    start_hub
    sockets=$port servers=$hub
  else
    local cluster edge_port edge_operations
    cluster=$(free_port) edge_port=$(free_port) edge_operations=$(free_port)
    start_hub --Pnh:Cluster:Urls=http://127.0.0.1:$cluster --Pnh:Cluster:KeyFile="$scratch/cluster.key"
    taskset -c 0 "$program" serve --role edge --Pnh:Urls=http://127.0.0.1:$edge_port --Pnh:OperationsUrls=http://127.0.0.1:$edge_operations --Pnh:Hubs=http://127.0.0.1:$cluster \
      --Pnh:Cluster:KeyFile="$scratch/cluster.key" --Pnh:Apps:demo:Tokens:Hs256Secret="$(cat "$data/demo.hs256")" >"$scratch/edge.log" 2>&1 &
    edge=$!
    for _ in $(seq 200); do curl -sf "http://127.0.0.1:$edge_port/readyz" >/dev/null && break; sleep 0.1; done
    sockets=$edge_port servers=$hub,$edge
  fi

  before_hub=$(ticks "$hub") before_edge=$([ -z "$edge" ] || ticks "$edge")
  timeout 600 taskset -c 1 "$generator" "${work[@]}" --peer pnh --port "$port" --socket-port "$sockets" --operations-port "$operations" --key "$key" --secret-file "$data/demo.hs256" \
    --server "$servers" --label "$group:$side" --pair "$pair" --json >>"$runs" || echo "$group:$side failed with $?" >&2
  if [ -n "$edge" ]; then
    echo "  $group: CPU of hub and edge, 10 ms: $(($(ticks "$hub") - before_hub)) $(($(ticks "$edge") - before_edge))" >&2
    kill "$edge"
    wait "$edge" || true
  fi

  stop "$hub"
  rm -rf "$data"
}

for pair in $(seq "$pairs"); do
  for group in "${groups[@]}"; do
    echo "= pair $pair of $pairs, $group" >&2
    if [ $((pair % 2)) -eq 1 ]; then order="old new"; else order="new old"; fi
    for side in $order; do run "$group" "$side" "$pair"; done
  done
done

mkdir -p bench/results
output=${PNH_OUTPUT:-bench/results/edges-cost.md}
"$generator" pair "$runs" "$output" "\`bench/edges.sh\`, $pairs pairs of ${groups[*]}: ${common[1]} s measured after ${common[3]} s of warming. $(nproc) cores, .NET $(dotnet --version). Old = one node, new = a hub and an edge, the CPU of both." || true
cat "$output"
