#!/bin/sh
# Straight to Redis: a native client with a native worker, and the same worker for a Gearman client.
set -eu
cd "$(dirname "$0")/.."

node examples/native-worker.mjs &
worker=$!
trap 'kill "$worker"' EXIT

node examples/native-client.mjs 'from one native program to another'
printf 'from Gearman to a native worker' | gearman -h 127.0.0.1 -p "${GEARMAN_PORT:-4730}" -f reverse
echo
