#!/usr/bin/env bash
# The kill loop of tests/ship at length: bench/kill.sh [ROUNDS] [more options of tests/ship/kill.mjs]. Some 2 s a round; writes bench/results/kill.md.
# Every 250 rounds begin with an empty folder: a start reads all that is retained, which after 350 kills is 620 MB and takes longer than all else.
set -eu -o pipefail
cd "$(dirname "$0")/.."

rounds=${1:-1000}
shift || true
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

program=${PNH_PROGRAM:-$PWD/artifacts/publish/pnh-linux-x64/pnh}
if [ -z "${PNH_PROGRAM:-}" ]; then
  dotnet publish src/Pnh.Api -c Release -r linux-x64 --self-contained false -o "$(dirname "$program")" >"$scratch/publish.log" || { cat "$scratch/publish.log"; exit 1; }
fi

[ -d tests/ship/node_modules ] || npm ci --prefix tests/ship --no-progress
code=0
for ((left = rounds; left > 0; left -= 250)); do
  node tests/ship/kill.mjs "$program" --rounds $((left < 250 ? left : 250)) "$@" | tee -a "$scratch/log" || code=$?
done

mkdir -p bench/results
{
  echo "# The hub killed $rounds times under load"
  echo
  echo "\`bench/kill.sh $rounds $*\`: published hub, commit $(git rev-parse --short HEAD), $(date -u +%Y-%m-%d), $(nproc) cores. Exit code $code."
  echo
  sed 's/^ */    /' "$scratch/log"
} >bench/results/kill.md
exit "$code"
