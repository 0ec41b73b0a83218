# What the measurements share; sourced by them from the project's folder: . bench/hub.sh
# A published hub, started with data of its own and free ports, and everything that was started ended with the script.
# PNH_PROGRAM=/path/to/pnh measures another build.

scratch=$(mktemp -d)
started=()
cleanup() {
  for process in "${started[@]}"; do
    kill "$process" 2>/dev/null || true
    wait "$process" 2>/dev/null || true
  done

  rm -rf "$scratch"
}
trap cleanup EXIT

quietly() { "$@" >"$scratch/step.log" 2>&1 || { cat "$scratch/step.log" >&2; exit 1; }; }

need() {
  for tool in "$@"; do
    command -v "$tool" >/dev/null || { echo "needs $tool" >&2; exit 1; }
  done
}

free_port() { node -e 'const s=require("net").createServer().listen(0,"127.0.0.1",()=>{console.log(s.address().port);s.close()})'; }

# Ends one process that was started here.
stop() {
  kill "$1" 2>/dev/null || true
  wait "$1" 2>/dev/null || true
}

# Sets program.
publish_hub() {
  program=${PNH_PROGRAM:-$PWD/artifacts/publish/pnh-linux-x64/pnh}
  if [ -z "${PNH_PROGRAM:-}" ]; then
    quietly dotnet publish src/Pnh.Api -c Release -r linux-x64 --self-contained false -o "$(dirname "$program")"
  fi
}

# Sets generator, the load tester.
build_generator() {
  quietly dotnet build src/Pnh.LoadTest -c Release
  generator=$PWD/artifacts/bin/Pnh.LoadTest/release/Pnh.LoadTest
}

# start_hub [--Pnh:…=…]: on core 0, as a first start. Sets hub, port, operations, phones (the sandbox), key, data, log; a second call starts another one.
# A port that was free may be taken by a connection of the load tester meanwhile: then with others, twice.
hubs=0
start_hub() {
  for attempt in 1 2 3; do
    try_hub "$@" && return
    [ "$attempt" -lt 3 ] && grep -q 'address already in use' "$log" || break
  done

  cat "$log" >&2
  exit 1
}

try_hub() {
  hubs=$((hubs + 1))
  data=$scratch/data$hubs
  log=$scratch/hub$hubs.log
  port=$(free_port)
  operations=$(free_port)
  phones=$(free_port)
  taskset -c 0 "$program" --Pnh:Data="$data" --Pnh:Urls="http://127.0.0.1:$port" --Pnh:OperationsUrls="http://127.0.0.1:$operations" \
    --Pnh:SandboxPorts:Apns=0 --Pnh:SandboxPorts:Fcm="$phones" "$@" >"$log" 2>&1 &
  hub=$!
  started+=("$hub")
  for _ in $(seq 150); do
    curl -fso /dev/null "http://127.0.0.1:$operations/readyz" && grep -q 'Authorization: Bearer ' "$log" && break
    kill -0 "$hub" 2>/dev/null || return 1
    sleep 0.2
  done

  key=$(sed -n 's/.*Authorization: Bearer \([^ "'"'"'\\]*\).*/\1/p' "$log" | head -1)
  [ -n "$key" ] || { echo "the start printed no key" >&2; return 1; }
}

version=${PNH_VERSION:-commit $(git rev-parse --short HEAD)}
ulimit -n 20000 2>/dev/null || true
