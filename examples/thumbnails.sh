#!/bin/sh
# Modern to legacy: a Faktory producer's jobs are done by the gearman program as the worker.
set -eu
cd "$(dirname "$0")/.."

node examples/thumbnail-producer.mjs
gearman -h 127.0.0.1 -p "${GEARMAN_PORT:-4730}" -f thumbnail -w -c 3 -- sh -c 'echo "thumbnail of $(cat)" >&2'
