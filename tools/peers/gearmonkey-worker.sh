#!/usr/bin/env bash
# A GearMonkey worker made of redis-cli. It knows the commands of the protocol and nothing else.
#
#   gearmonkey-worker.sh FN COMMAND [ARGUMENT ...]
#
# Runs COMMAND for each job, with the input on standard input and ID and FN in the environment as
# GEARMONKEY_ID and GEARMONKEY_FN. What it prints is the output; if it fails, the job is an error and
# what it wrote to standard error is the output. On SIGTERM or SIGINT the job at hand is finished,
# then the worker leaves. REDIS_CLI holds the command to talk to the server, for instance
# "redis-cli -s /tmp/redis.sock"; default "redis-cli". Prints "ready" when it is registered.
set -u

read -r -a cli <<<"${REDIS_CLI:-redis-cli}"

redis() { "${cli[@]}" --raw "$@"; }

[ $# -ge 2 ] || { echo 'usage: gearmonkey-worker.sh FN COMMAND [ARGUMENT ...]' >&2; exit 2; }
fn=$1
shift

# The text of the script has two spaces after the comma in its table.
script="local item = redis.call('ZRANGEBYSCORE', KEYS[1], 0, ARGV[1], 'LIMIT', 0, 1); if (#item > 0) then redis.call('ZREM', KEYS[1], item[1]); return { KEYS[1],  item[1] }; end"
sha=5231827cd49b540660ef44969b38cc858f157824

dir=$(mktemp -d)
stopping=''
trap 'stopping=yes' TERM INT

work() {
  local id=$1 status=success
  shift
  redis PUBLISH "channel:$fn" "start:$id" >/dev/null
  redis HMSET "job:$fn:$id" status busy >/dev/null
  # redis-cli ends a raw reply with a newline of its own, which is no part of the input.
  redis HGET "job:$fn:$id" input | head -c -1 >"$dir/input"
  GEARMONKEY_ID=$id GEARMONKEY_FN=$fn "$@" <"$dir/input" >"$dir/output" 2>"$dir/errors" || {
    status=error
    mv "$dir/errors" "$dir/output"
  }
  redis -x HMSET "job:$fn:$id" status "$status" output <"$dir/output" >/dev/null
  redis EXPIRE "job:$fn:$id" 90000 >/dev/null
  redis PUBLISH "channel:$fn" "finish:$id" >/dev/null
  redis LPUSH "lock:$fn:$id" OK >/dev/null
  redis EXPIRE "lock:$fn:$id" 10 >/dev/null
}

[ "$(redis SCRIPT LOAD "$script")" = "$sha" ] || { echo 'the script has another SHA-1' >&2; exit 1; }
redis INCR "count:$fn" >/dev/null
echo ready

while [ -z "$stopping" ]; do
  reply=$(redis EVALSHA "$sha" 1 "queue:$fn:scheduled" "$(date +%s)")
  case $reply in
    NOSCRIPT*) redis SCRIPT LOAD "$script" >/dev/null; continue ;;
  esac
  if [ -z "$reply" ]; then
    # A signal to the whole group must not cut a pop that the server has already made.
    reply=$(trap '' TERM INT; redis BRPOP "queue:$fn:high" "queue:$fn:normal" "queue:$fn:low" 1)
  fi
  id=${reply##*$'\n'}
  if [[ $id =~ ^[0-9]+$ ]]; then
    work "$id" "$@"
  elif [ -n "$reply" ]; then
    sleep 1 # the server is away, or says what it will not do
  fi
done

redis DECR "count:$fn" >/dev/null
rm -rf "$dir"
