#!/usr/bin/env bash
# Legacy to modern: the gearman program hands every Markdown file of this repository to a Faktory worker,
# once in the foreground (the count is printed) and once in the background.
set -euo pipefail
cd "$(dirname "$0")/.."
gearman=(gearman -h 127.0.0.1 -p "${GEARMAN_PORT:-4730}" -f wordcount)

node examples/wordcount-worker.mjs &
worker=$!
trap 'kill "$worker"' EXIT

git ls-files '*.md' | while read -r file; do
  printf '%s: %s words\n' "$file" "$("${gearman[@]}" <"$file")"
  "${gearman[@]}" -b <"$file"
done

# The worker is stopped when nothing is left to do.
until gearadmin -h 127.0.0.1 -p "${GEARMAN_PORT:-4730}" --status | grep -q '^wordcount[[:space:]]0[[:space:]]'; do
  sleep 0.2
done
