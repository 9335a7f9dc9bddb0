import { connect } from 'node:net'

const callsAtOnce = 2
const lineFeed = 0x0a
const script = `for i, input in ipairs(ARGV) do
  redis.call('HSET', 'floor:' .. i, 'status', 'busy', 'input', input)
  redis.call('ZADD', 'floor:deadlines', i, i)
  redis.call('PUBLISH', 'floor:events', i)
end
return 1`
const lineEnd = Buffer.from('\r\n')
const nothing = Buffer.alloc(0)

/** @param {readonly Buffer[]} words */
function encode(words) {
  const parts = [Buffer.from(`*${words.length}\r\n`)]
  for (const word of words) parts.push(Buffer.from(`$${word.length}\r\n`), word, lineEnd)
  return Buffer.concat(parts)
}

const head = ['EVAL', script, '0'].map((word) => Buffer.from(word))

/**
 * Returns a function that stores bytes and runs its first argument once the store has answered for it: one call for all of a turn,
 * two calls in progress at most. Without a Redis at `path` all of a turn run at its end.
 * @param {string | undefined} path
 * @returns {(done: () => void, input?: Buffer) => void}
 */
export function storeCalls(path) {
  const redis = path === undefined ? undefined : connect(path)
  const answers = []
  let waiting = []
  let armed = false

  function send() {
    armed = false
    if (waiting.length === 0 || answers.length >= callsAtOnce) return
    const batch = waiting
    waiting = []
    if (redis === undefined) {
      for (const { done } of batch) done()
      return
    }
    redis.write(encode([...head, ...batch.map(({ input }) => input)]))
    answers.push(batch)
  }

  redis?.on('data', (chunk) => {
    for (const byte of chunk) if (byte === lineFeed) for (const { done } of answers.shift()) done()
    send()
  })

  return (done, input = nothing) => {
    waiting.push({ done, input })
    if (armed) return
    armed = true
    setImmediate(send)
  }
}
