#!/usr/bin/env bash
# PNH beside nchan, SignalR and a bare C loop, with the same profiles: bench/compare.sh [--quick] [GROUP …], writes bench/results/compare.md.
# Groups: broadcast one silent idle stop groups mixed chat (all of them by default). Server on core 0, load tester on core 1; pairs interleaved.
# Needs Linux, two cores, cc, nginx with nchan (Debian: nginx, libnginx-mod-nchan), node, curl, taskset. PNH_PAIRS, PNH_SECONDS, PNH_OUTPUT change what they say;
# PNH_RUNS=file keeps the runs, a JSON line each, and adds to what is in it: groups can be measured one by one, when the machine is quiet.
set -eu -o pipefail
cd "$(dirname "$0")/.."
. bench/hub.sh
need cc nginx node curl taskset dotnet

quick=
groups=()
for word in "$@"; do
  if [ "$word" = --quick ]; then quick=1; else groups+=("$word"); fi
done
[ "${#groups[@]}" -gt 0 ] || groups=(broadcast one silent idle stop groups mixed chat)
pairs=${PNH_PAIRS:-$([ -n "$quick" ] && echo 1 || echo 5)}
seconds=${PNH_SECONDS:-$([ -n "$quick" ] && echo 4 || echo 10)}
warm=$([ -n "$quick" ] && echo 3 || echo 15) # .NET compiles again what is hot: the third run of one hub was a fifth quicker than the first after 5 s

publish_hub
build_generator
quietly cc -O2 -o "$scratch/send-loop" bench/peers/send-loop.c
modules=$(dirname "$(find /usr/lib/nginx /usr/lib64/nginx /etc/nginx -name ngx_nchan_module.so 2>/dev/null | head -1)")
[ -f "$modules/ngx_nchan_module.so" ] || { echo "needs nginx's module nchan (Debian: libnginx-mod-nchan)" >&2; exit 1; }
signalr=
if [ -d bench/Pnh.SignalRPeer ]; then
  quietly dotnet build bench/Pnh.SignalRPeer -c Release
  signalr=$PWD/artifacts/bin/Pnh.SignalRPeer/release/Pnh.SignalRPeer
fi

# Until it listens.
listening() {
  for _ in $(seq 100); do
    (exec 3<>"/dev/tcp/127.0.0.1/$1") 2>/dev/null && return
    sleep 0.1
  done

  echo "nothing listens on $1" >&2
  exit 1
}

# begin SIDE [settings of PNH]: one server on core 0. Sets process, at (what the load tester must know of it).
begin() {
  local side=$1
  shift
  case $side in
    pnh)
      start_hub "$@"
      process=$hub
      at=(--peer pnh --port "$port" --operations-port "$operations" --key "$key" --secret-file "$data/demo.hs256")
      return
      ;;
    nchan)
      port=$(free_port)
      mkdir -p "$scratch/nginx"
      sed -e "s|FOLDER|$scratch/nginx|; s|PORT|$port|; s|MODULES|$modules|" bench/peers/nchan.conf >"$scratch/nginx/nginx.conf"
      taskset -c 0 nginx -p "$scratch/nginx" -c "$scratch/nginx/nginx.conf" -e "$scratch/nginx/error.log" 2>"$scratch/nginx/start.log" &
      ;;
    c)
      port=$(free_port)
      taskset -c 0 "$scratch/send-loop" "$port" &
      ;;
    signalr)
      port=$(free_port)
      taskset -c 0 "$signalr" "$port" >"$scratch/signalr.log" 2>&1 &
      ;;
  esac
  process=$!
  started+=("$process")
  listening "$port"
  at=(--peer "$side" --port "$port")
}

# load LABEL PROFILE [options]: one run against what began last; a line of JSON. A run that saw something wrong is kept, and fails: the table says so.
load() {
  local label=$1 code=0
  shift
  echo "== $label" >&2
  timeout 600 taskset -c 1 "$generator" "$@" "${at[@]}" --server "$process" --label "$label" --pair $((former + pair)) --json >>"$runs" || code=$?
  [ "$code" -eq 0 ] || { echo "$label failed with $code" >&2; failed=1; }
}

# Each side of a pair has a fresh server; a label is what was done, a colon, and the side.
failed=0
runs=${PNH_RUNS:-$scratch/runs.jsonl}
# Pairs are counted on from what the file has: a ratio is taken within a pair.
former=$({ grep -o '"pair":[0-9]*' "$runs" 2>/dev/null || true; } | cut -d: -f2 | sort -n | tail -1)
former=${former:-0}
# SignalR, which no bar refers to, in the first pair only; what is C has nothing to compile again.
sides() { for side in pnh nchan c $([ $((former + pair)) -gt 1 ] || echo "${signalr:+signalr}"); do echo "$side"; done; }
times() {
  case $1 in
    pnh | signalr) common=(--seconds "$seconds" --warm "$warm") ;;
    *) common=(--seconds "$seconds" --warm $((warm < 5 ? warm : 5))) ;;
  esac
}

run_broadcast() {
  for side in $(sides); do
    times "$side"
    begin "$side"
    load "broadcast:$side" broadcast "${common[@]}"
    [ "$side" != pnh ] || load broadcast-acked:pnh broadcast --class message "${common[@]}"
    stop "$process"
  done

  # Sessions that are in the topic because their users are its members: nobody else knows such a thing. After each other, as above.
  times pnh
  begin pnh
  load members:pnh broadcast --as members "${common[@]}"
  load members-acked:pnh broadcast --as members --class message "${common[@]}"
  stop "$process"
}

run_one() {
  for side in $(sides); do
    times "$side"
    begin "$side"
    load "one:$side" one "${common[@]}"
    if [ "$side" = pnh ]; then
      load one-acked:pnh one --class message "${common[@]}"
      load ndjson:pnh ndjson "${common[@]}"
    fi

    stop "$process"
  done
}

# A session lingers for 60 s after its connection, which is nearly all that a run would do.
linger=--Pnh:Sockets:Linger=00:00:03
run_idle() {
  for side in $(sides); do
    begin "$side" "$linger"
    load "idle:$side" idle --linger 3 ${quick:+--sessions 3000}
    stop "$process"
  done

  begin pnh "$linger"
  load idle-members:pnh idle --as members --linger 3 ${quick:+--sessions 3000}
  stop "$process"
}

run_silent() {
  times pnh
  for as in joined members; do
    begin pnh
    load "silent$([ $as = joined ] || echo -members):pnh" silent --as $as "${common[@]}"
    stop "$process"
  done
}

run_stop() {
  begin pnh
  load stop:pnh stop
}

run_groups() {
  for side in $(sides); do
    times "$side"
    begin "$side"
    load "groups:$side" groups "${common[@]}" ${quick:+--sessions 6000 --rate 1500}
    [ "$side" != nchan ] || load groups-one:nchan one "${common[@]}"
    stop "$process"
  done
}

run_mixed() {
  times pnh
  begin pnh
  load mixed:pnh mixed "${common[@]}"
  stop "$process"
}

run_chat() {
  # Latencies of a hub that does little: the tool polls, as its own waking up would be a good part of them.
  begin pnh
  load chat:pnh chat --poll --seconds "$([ -n "$quick" ] && echo 10 || echo 120)"
  [ -n "$quick" ] || load chat-10000:pnh chat --poll --sessions 10000 --seconds 120
  load chat-broadcast-transient:pnh broadcast --poll --sessions 1000 --rate 0.667 --seconds "$([ -n "$quick" ] && echo 6 || echo 120)"
  load chat-broadcast:pnh broadcast --poll --class message --sessions 1000 --rate 0.667 --seconds "$([ -n "$quick" ] && echo 6 || echo 120)"
  stop "$process"

  # What plain sends to as many cost here, before anything of a hub.
  begin c
  load chat-broadcast-transient:c broadcast --poll --sessions 1000 --rate 0.667 --seconds "$([ -n "$quick" ] && echo 6 || echo 120)"
  stop "$process"
}

for pair in $(seq "$pairs"); do
  for group in "${groups[@]}"; do
    # What is only PNH's own needs no pairs.
    if [ "$pair" -gt 1 ] && [[ $group = mixed || $group = chat ]]; then continue; fi
    echo "= pair $pair of $pairs, $group" >&2
    "run_$group"
  done
done

mkdir -p bench/results
output=${PNH_OUTPUT:-bench/results/compare.md}
"$generator" compare "$runs" "$output" "\`bench/compare.sh $*\`: $pairs pairs, $seconds s measured after $warm s of warming. $(nproc) cores, .NET $(dotnet --version), $(nginx -v 2>&1 | sed 's/.*: //'), $version, $(date -u +%Y-%m-%d)."
cat "$output"
exit "$failed"
