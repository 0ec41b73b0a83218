#!/usr/bin/env bash
# The hub on one core, the load generator on another: capacity, then idle, 70 %, 200 % and 300 % of it: bench/overload.sh [more options of Pnh.LoadTest]
# Writes bench/results/overload.md. Needs Linux, two cores, taskset. PNH_PROGRAM=/path/to/pnh measures another build.
set -eu -o pipefail
cd "$(dirname "$0")/.."

scratch=$(mktemp -d)
hub=
cleanup() {
  if [ -n "$hub" ]; then
    kill "$hub" 2>/dev/null || true
    wait "$hub" 2>/dev/null || true
  fi

  rm -rf "$scratch"
}
trap cleanup EXIT

quietly() { "$@" >"$scratch/step.log" 2>&1 || { cat "$scratch/step.log" >&2; exit 1; }; }
program=${PNH_PROGRAM:-$PWD/artifacts/publish/pnh-linux-x64/pnh}
if [ -z "${PNH_PROGRAM:-}" ]; then
  quietly dotnet publish src/Pnh.Api -c Release -r linux-x64 --self-contained false -o "$(dirname "$program")"
fi

quietly dotnet build bench/Pnh.LoadTest -c Release
generator=$PWD/artifacts/bin/Pnh.LoadTest/release/Pnh.LoadTest

free_port() { node -e 'const s=require("net").createServer().listen(0,"127.0.0.1",()=>{console.log(s.address().port);s.close()})'; }
port=$(free_port)
operations=$(free_port)
taskset -c 0 "$program" --Pnh:Data="$scratch/data" --Pnh:Urls="http://127.0.0.1:$port" --Pnh:OperationsUrls="http://127.0.0.1:$operations" \
  --Pnh:SandboxPorts:Apns=0 --Pnh:SandboxPorts:Fcm=0 >"$scratch/hub.log" 2>&1 &
hub=$!
for _ in $(seq 150); do
  curl -fso /dev/null "http://127.0.0.1:$operations/readyz" && grep -q 'Authorization: Bearer ' "$scratch/hub.log" && break
  kill -0 "$hub" 2>/dev/null || { cat "$scratch/hub.log"; exit 1; }
  sleep 0.2
done
key=$(sed -n 's/.*Authorization: Bearer \([^ "'"'"'\\]*\).*/\1/p' "$scratch/hub.log" | head -1)
[ -n "$key" ] || { echo "the start printed no key" >&2; cat "$scratch/hub.log" >&2; exit 1; }

mkdir -p bench/results
version=${PNH_VERSION:-commit $(git rev-parse --short HEAD)}
ulimit -n 20000 2>/dev/null || true
DOTNET_SYSTEM_NET_SOCKETS_INLINE_COMPLETIONS=1 DOTNET_TieredCompilation=0 taskset -c 1 "$generator" --port "$port" --key "$key" \
  --secret-file "$scratch/data/demo.hs256" --hub "$hub" --output "${PNH_OUTPUT:-bench/results/overload.md}" \
  --title "\`bench/overload.sh $*\`: published hub on one core, generator on another, loopback, no TLS. $(nproc) cores, .NET $(dotnet --version), $version, $(date -u +%Y-%m-%d)." "$@"
