import { connect } from 'node:net'

const callsAtOnce = 2
const lineFeed = 0x0a
const script = `for i = 1, tonumber(ARGV[1]) do
  redis.call('HSET', 'floor:' .. i, 'status', 'busy', 'input', ARGV[2])
  redis.call('ZADD', 'floor:deadlines', i, i)
  redis.call('PUBLISH', 'floor:events', i)
end
return 1`
const payload = 'x'.repeat(100)

/** @param {readonly string[]} words */
function encode(words) {
  const bulks = words.map((word) => `$${Buffer.byteLength(word)}\r\n${word}\r\n`)
  return `*${words.length}\r\n${bulks.join('')}`
}

/**
 * Returns a function that runs its argument once the store has answered for it: one call for all of a turn, two calls in progress at
 * most. Without a Redis at `path` all of a turn run at its end.
 * @param {string | undefined} path
 * @returns {(done: () => void) => void}
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
      for (const done of batch) done()
      return
    }
    redis.write(encode(['EVAL', script, '0', String(batch.length), payload]))
    answers.push(batch)
  }

  redis?.on('data', (chunk) => {
    for (const byte of chunk) if (byte === lineFeed) for (const done of answers.shift()) done()
    send()
  })

  return (done) => {
    waiting.push(done)
    if (armed) return
    armed = true
    setImmediate(send)
  }
}
