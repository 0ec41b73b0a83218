#!/usr/bin/env bash
# Allocated bytes of each step of the hot path against bench/budgets.json: budgets.sh [file]
# A line "ok" or "not ok" per budget, then "N passed, N failed". Bytes do not depend on the machine or on what else it does.
set -u -o pipefail
cd "$(dirname "$0")/.." || exit 1
export DOTNET_CLI_TELEMETRY_OPTOUT=1 DOTNET_NOLOGO=1

# Release: the compiler makes objects of async methods otherwise. Analyzers ran with the build of everything.
dotnet build bench/Pnh.Benchmarks -c Release -v q -p:RunAnalyzersDuringBuild=false --no-restore >&2 || exit 1
exec dotnet artifacts/bin/Pnh.Benchmarks/release/Pnh.Benchmarks.dll budgets "${1:-bench/budgets.json}"
