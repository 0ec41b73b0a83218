#!/usr/bin/env bash
# The hub on one core, the load generator on another: capacity, then idle, 70 %, 200 % and 300 % of it: bench/overload.sh [more options of Pnh.LoadTest]
# Writes bench/results/overload.md. Needs Linux, two cores, taskset. PNH_PROGRAM=/path/to/pnh measures another build.
set -eu -o pipefail
cd "$(dirname "$0")/.."

. bench/hub.sh
need dotnet node curl taskset
publish_hub
build_generator
start_hub

mkdir -p bench/results
DOTNET_SYSTEM_NET_SOCKETS_INLINE_COMPLETIONS=1 DOTNET_TieredCompilation=0 taskset -c 1 "$generator" overload --port "$port" --key "$key" \
  --secret-file "$data/demo.hs256" --server "$hub" --output "${PNH_OUTPUT:-bench/results/overload.md}" \
  --title "\`bench/overload.sh $*\`: published hub on one core, generator on another, loopback, no TLS. $(nproc) cores, .NET $(dotnet --version), $version, $(date -u +%Y-%m-%d)." "$@"
