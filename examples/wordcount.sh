#!/bin/sh
# Legacy to modern: the gearman program hands every Markdown file of this repository to a Faktory worker,
# once in the foreground (the count is printed) and once in the background.
set -eu
cd "$(dirname "$0")/.."
count() { gearman -h 127.0.0.1 -p "${GEARMAN_PORT:-4730}" -f wordcount "$@"; }

node examples/wordcount-worker.mjs &
worker=$!
trap 'kill "$worker"' EXIT

git ls-files '*.md' | while read -r file; do
  printf '%s: %s words\n' "$file" "$(count <"$file")"
  count -b <"$file"
done

# The worker is stopped when nothing is left to do.
until gearadmin -h 127.0.0.1 -p "${GEARMAN_PORT:-4730}" --status | grep -q '^wordcount[[:space:]]0[[:space:]]'; do
  sleep 0.2
done
