#!/usr/bin/env bash
# Pushes per CPU second of the client, over TLS to nginx: bench/lanes.sh [ROUNDS] [SECONDS] [PUSHES]
# h2load -c1 -m100, then each client of ours with 100 in flight; rounds interleaved, so that a noisy minute hits all. Writes bench/results/lanes.md.
# Nothing is pinned to a core: the pool of .NET spins with sched_yield where it has one core, which measures the neighbours.
set -eu -o pipefail
cd "$(dirname "$0")/.."

rounds=${1:-5}
seconds=${2:-4}
pushes=${3:-200000}
for tool in nginx h2load openssl dotnet curl node; do
  command -v "$tool" >/dev/null || { echo "needs $tool (Debian: nginx-light, nghttp2-client, openssl, curl)" >&2; exit 1; }
done

scratch=$(mktemp -d)
server=
cleanup() {
  if [ -n "$server" ]; then
    kill "$server" 2>/dev/null || true
    wait "$server" 2>/dev/null || true
  fi

  rm -rf "$scratch"
}
trap cleanup EXIT

dotnet build bench/Pnh.LaneBench -c Release -v q -m:1 >"$scratch/build.log" || { cat "$scratch/build.log"; exit 1; }
bench=artifacts/bin/Pnh.LaneBench/release/Pnh.LaneBench

openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj /CN=localhost -addext subjectAltName=DNS:localhost \
  -keyout "$scratch/key.pem" -out "$scratch/cert.pem" 2>/dev/null
port=$(node -e 'const s=require("net").createServer().listen(0,"127.0.0.1",()=>{console.log(s.address().port);s.close()})')
cat >"$scratch/nginx.conf" <<END
worker_processes 1; daemon off; pid $scratch/nginx.pid; error_log $scratch/error.log;
events { worker_connections 256; }
http {
  access_log off; keepalive_requests 1000000000;
  client_body_temp_path $scratch/body; proxy_temp_path $scratch/proxy; fastcgi_temp_path $scratch/fastcgi; uwsgi_temp_path $scratch/uwsgi; scgi_temp_path $scratch/scgi;
  server { listen 127.0.0.1:$port ssl http2; ssl_certificate $scratch/cert.pem; ssl_certificate_key $scratch/key.pem; location / { return 200; } }
}
END
nginx -c "$scratch/nginx.conf" -p "$scratch" 2>/dev/null &
server=$!
for _ in $(seq 50); do
  curl -sk --http2 -o /dev/null "https://localhost:$port/" && break
  sleep 0.1
done

repeat() { printf "$1%.0s" $(seq "$2"); }
repeat b 200 >"$scratch/push"
h2load_rate() {
  local TIMEFORMAT='%U %S' spent
  spent=$({ time h2load -c1 -m100 -t1 -n "$pushes" -d "$scratch/push" -H "authorization: bearer $(repeat t 193)" \
    -H 'apns-id: 4f4e1d3e-6c8e-4d6c-9a3c-1d2e3f405162' -H 'apns-push-type: alert' -H 'apns-topic: com.example.app' -H 'apns-priority: 10' \
    -H 'apns-expiration: 1893456000' "https://localhost:$port/3/device/$(repeat a 64)" >"$scratch/h2load.log"; } 2>&1)
  grep -q "^status codes: $pushes 2xx" "$scratch/h2load.log" || { cat "$scratch/h2load.log" >&2; return 1; }
  echo "$spent" | awk -v n="$pushes" '{ printf "%.0f -\n", n / ($1 + $2) }'
}
rate() { "$bench" "$1" "https://localhost:$port" "$seconds" "$scratch/cert.pem" | awk '{ print $1, $(NF - 1) }'; }

modes=(sockets direct sender-sockets sender-direct hub-sockets hub-direct)
for round in $(seq "$rounds"); do
  base=$(h2load_rate)
  echo "$round h2load $base 1" | tee -a "$scratch/values" >&2
  for mode in "${modes[@]}"; do
    value=$(rate "$mode")
    echo "$round $mode $value $(awk -v a="${value% *}" -v b="${base% *}" 'BEGIN { printf "%.3f", a / b }')" | tee -a "$scratch/values" >&2
  done
done

median() { awk -v mode="$1" -v field="$2" '$2 == mode { print $field }' "$scratch/values" | sort -n | awk '{ v[NR] = $1 } END { printf "%s %s %s", v[int((NR + 1) / 2)], v[1], v[NR] }'; }
mkdir -p bench/results
{
  echo "# Pushes per CPU second of the client"
  echo
  echo "\`bench/lanes.sh $rounds $seconds $pushes\`: POST shaped like APNs' (six headers, bearer of 200 bytes, body of 200) over TLS to one nginx worker that answers 200; one connection, 100 in flight."
  echo "$(nproc) cores, .NET $(dotnet --version), $(h2load --version), commit $(git rev-parse --short HEAD), $(date -u +%Y-%m-%d), load average at the end $(cut -d' ' -f1 /proc/loadavg). User + system time of the client alone."
  echo
  echo "| client | of h2load, median of the pairs | lowest to highest | pushes per CPU second | bytes allocated per push |"
  echo "|---|---|---|---|---|"
  for mode in h2load "${modes[@]}"; do
    read -r ratio low high <<<"$(median "$mode" 5)"
    read -r value _ _ <<<"$(median "$mode" 3)"
    read -r bytes _ _ <<<"$(median "$mode" 4)"
    case $mode in
      h2load) name="h2load -c1 -m100" ;;
      sockets) name="SocketsHttpHandler, bare" ;;
      direct) name="\`Http2Connection\`, bare" ;;
      sender-sockets) name="\`ApnsSender\` over SocketsHttpHandler" ;;
      sender-direct) name="\`ApnsSender\` over \`Http2Connection\`" ;;
      hub-sockets) name="hub and lane over SocketsHttpHandler" ;;
      hub-direct) name="hub and lane over \`Http2Connection\`" ;;
    esac
    echo "| $name | $ratio | $low to $high | $value | $bytes |"
  done
  echo
  echo "\`ApnsSender\` is what a lane calls: sender, Polly's pipeline, pool. \"Hub and lane\" is a delivery's whole path, without HTTP intake: an event to 64 users is accepted,"
  echo "journaled and planned, each delivery goes through its \`DeliveryLane\` (address looked up), sender, Polly, pool and connection, and its answer is settled in its shard and noted in"
  echo "the journal, whose disk costs nothing; 16 such events at once, and a push counts when its event is finished in the journal. The CPU is that of all threads."
  echo
  echo "Only the ratios compare with another machine or day."
} >bench/results/lanes.md
cat bench/results/lanes.md
