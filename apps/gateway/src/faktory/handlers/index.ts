import type { Verb } from '@crossgear/fwp-codec'
import { ack } from './ack.ts'
import { batch } from './batch.ts'
import { beat } from './beat.ts'
import { end } from './end.ts'
import { fail } from './fail.ts'
import { fetch } from './fetch.ts'
import { flush } from './flush.ts'
import type { Handler } from './handler.ts'
import { hello } from './hello.ts'
import { info } from './info.ts'
import { mutate } from './mutate.ts'
import { push } from './push.ts'
import { pushb } from './pushb.ts'
import { queue } from './queue.ts'
import { track } from './track.ts'

/** Every verb of the protocol. */
export const handlers: Readonly<Record<Verb, Handler>> = {
  HELLO: hello,
  END: end,
  PUSH: push,
  PUSHB: pushb,
  FETCH: fetch,
  ACK: ack,
  FAIL: fail,
  BEAT: beat,
  INFO: info,
  FLUSH: flush,
  MUTATE: mutate,
  QUEUE: queue,
  TRACK: track,
  BATCH: batch,
}
