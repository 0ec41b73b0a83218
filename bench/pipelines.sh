#!/usr/bin/env bash
# CPU per request of the hub's split pipelines, on the published hub: bench/pipelines.sh [ROUNDS] [REQUESTS]
# Hub on core 0, h2load on core 1; rounds interleaved, so that a noisy minute hits every pipeline. Writes bench/results/pipelines.md.
set -eu -o pipefail
cd "$(dirname "$0")/.."

rounds=${1:-5}
requests=${2:-40000}
connections=32
. bench/hub.sh
need h2load taskset curl node dotnet
publish_hub
start_hub

base=http://127.0.0.1:$port
bearer="authorization: Bearer $key"
printf '{"to":{"user":"nobody"},"class":"transient","data":{"typing":true}}' >"$scratch/event.json"

# name|expected status|what h2load gets besides the address. An event for a user without devices: accept and plan, no delivery.
pipelines=(
  "unknown path|404|$base/wp-login.php"
  "wrong verb|405|$base/v1/events"
  "health|200|$base/healthz"
  "business, no key|401|$base/v1/users/ada/presence"
  "business, cheap GET|200|-H|$bearer|$base/v1/users/ada/presence"
  "business, transient event|202|-H|$bearer|-H|content-type: application/json|-d|$scratch/event.json|$base/v1/events"
)

# User and system time of the process in clock ticks: fields 14 and 15 of /proc/PID/stat, counted after the name's closing bracket.
ticks() { sed 's/.*) //' "/proc/$hub/stat" | awk '{ print $12 + $13 }'; }
per_second=$(getconf CLK_TCK)

# Sends and prints microseconds of CPU per request; fails unless every answer had the expected kind of status.
measure() {
  local name status before after ok
  IFS='|' read -r -a part <<<"$1"
  name=${part[0]} status=${part[1]}
  before=$(ticks)
  taskset -c 1 h2load --h1 -n "$2" -c "$connections" -t 1 "${part[@]:2}" >"$scratch/h2load.log" 2>&1
  after=$(ticks)
  ok=$(sed -n "s/^status codes:.* \([0-9]*\) ${status:0:1}xx.*/\1/p" "$scratch/h2load.log")
  if [ "${ok:-0}" -ne "$2" ]; then
    echo "$name: only ${ok:-0} of $2 answers were ${status:0:1}xx" >&2
    cat "$scratch/h2load.log" >&2
    return 1
  fi

  awk -v t=$((after - before)) -v hz="$per_second" -v n="$2" 'BEGIN { printf "%.2f\n", t / hz / n * 1000000 }'
}

for pipeline in "${pipelines[@]}"; do
  IFS='|' read -r -a part <<<"$pipeline"
  code=$(curl -so /dev/null -w '%{http_code}' "${part[@]:2:${#part[@]}-3}" "${part[-1]}")
  [ "$code" = "${part[1]}" ] || [[ "$pipeline" == *"|-d|"* ]] || { echo "${part[0]}: answered $code, not ${part[1]}" >&2; exit 1; }
  measure "$pipeline" "$requests" >/dev/null # warm: tiered compilation is done after some ten thousand calls
done

for round in $(seq "$rounds"); do
  for i in "${!pipelines[@]}"; do
    echo "$i $(measure "${pipelines[$i]}" "$requests")" | tee -a "$scratch/values" >&2
  done
done

mkdir -p bench/results
{
  echo "# CPU per request of each pipeline"
  echo
  echo "\`bench/pipelines.sh $rounds $requests\`: published hub (ReadyToRun, server GC) on one core, h2load --h1 -c$connections on another, loopback, no TLS."
  echo "$(nproc) cores, .NET $(dotnet --version), $version, $(date -u +%Y-%m-%d). Median of $rounds interleaved rounds, user + system time of the hub."
  echo
  echo "| pipeline | answer | µs CPU per request | lowest to highest | of a transient event |"
  echo "|---|---|---|---|---|"
  last=$(awk -v i=$((${#pipelines[@]} - 1)) '$1 == i { print $2 }' "$scratch/values" | sort -n | awk '{ v[NR] = $1 } END { print v[int((NR + 1) / 2)] }')
  for i in "${!pipelines[@]}"; do
    IFS='|' read -r -a part <<<"${pipelines[$i]}"
    awk -v i="$i" '$1 == i { print $2 }' "$scratch/values" | sort -n |
      awk -v name="${part[0]}" -v status="${part[1]}" -v last="$last" \
        '{ v[NR] = $1 } END { m = v[int((NR + 1) / 2)]; printf "| %s | %s | %.1f | %.1f to %.1f | %.2f |\n", name, status, m, v[1], v[NR], m / last }'
  done
  echo
  echo "Only the ratios compare with another machine or day. The socket reads and writes of Kestrel's transport are in every row."
} >bench/results/pipelines.md
cat bench/results/pipelines.md
