#!/usr/bin/env bash
# A GearMonkey client made of redis-cli. It knows the commands of the protocol and nothing else.
#
#   gearmonkey-client.sh run FN PRIO [--rollcall] [--blocking SECONDS] [--at UNIXTIME] < INPUT
#   gearmonkey-client.sh get FN ID [FIELD]
#
# PRIO is high, normal, low or scheduled (with --at). `run` prints the id, `get` the whole hash as
# redis-cli shows it, or the bytes of one field. REDIS_CLI holds the command to talk to the server,
# for instance "redis-cli -s /tmp/redis.sock"; default "redis-cli".
# Exit code: 0, or 1 for a failed roll call, 2 for wrong use, 3 for a timeout, 4 for no id.
set -u

read -r -a cli <<<"${REDIS_CLI:-redis-cli}"

redis() { "${cli[@]}" --raw "$@"; }

fail() { echo "gearmonkey-client: $2" >&2; exit "$1"; }

usage() { fail 2 'usage: run FN PRIO [--rollcall] [--blocking SECONDS] [--at UNIXTIME] | get FN ID [FIELD]'; }

run() {
  [ $# -ge 2 ] || usage
  local fn=$1 prio=$2 rollcall='' blocking='' at=''
  shift 2
  while [ $# -gt 0 ]; do
    case $1 in
      --rollcall) rollcall=yes ;;
      --blocking) blocking=${2:-}; shift ;;
      --at) at=${2:-}; shift ;;
      *) usage ;;
    esac
    shift
  done
  if [ -n "$rollcall" ]; then
    local count
    count=$(redis GET "count:$fn")
    [[ $count =~ ^[0-9]+$ && $count -ge 1 ]] || fail 1 "no worker for $fn"
  fi
  local id
  id=$(redis INCR "uid:$fn")
  [[ $id =~ ^[0-9]+$ ]] || fail 4 "no id: $id"
  # -x takes the last argument from standard input, byte for byte.
  redis -x HMSET "job:$fn:$id" status idle input >/dev/null || fail 4 'no job'
  redis PUBLISH "channel:$fn" "create:$id" >/dev/null
  if [ "$prio" = scheduled ]; then
    redis ZADD "queue:$fn:scheduled" "$at" "$id" >/dev/null
  else
    redis LPUSH "queue:$fn:$prio" "$id" >/dev/null
  fi
  echo "$id"
  if [ -n "$blocking" ]; then
    local reply
    reply=$(redis BRPOP "lock:$fn:$id" "$blocking" </dev/null)
    [ -n "$reply" ] || fail 3 "job $id not finished after $blocking s"
  fi
}

get() {
  case $# in
    2) redis HGETALL "job:$1:$2" ;;
    # redis-cli ends a raw reply with a newline of its own, which is no part of the field.
    3) redis HGET "job:$1:$2" "$3" | head -c -1 ;;
    *) usage ;;
  esac
}

[ $# -ge 1 ] || usage
verb=$1
shift
case $verb in
  run) run "$@" ;;
  get) get "$@" ;;
  *) usage ;;
esac
