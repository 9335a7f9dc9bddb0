import { connect, createServer } from 'node:net'
import { FaktoryConnection } from '@crossgear/peers'
import { lacksRedis, type RedisServer } from '@crossgear/tools/redis-server'
import { waitFor } from '@crossgear/tools/wait-for'
import { describe, expect, onTestFinished, test } from 'vitest'
import { runMigrate } from '../../../src/commands/migrate/run-migrate.ts'
import { gatewayOfTest, startGateway } from '../../support/gateway-process.ts'
import { heard } from '../../support/heard.ts'
import { portOfTest } from '../../support/port-of-test.ts'
import { redisOfSuite } from '../../support/redis-of-suite.ts'

const jobs = 600
const lanes = ['Mail', 'Post', 'Mail@bulk', 'Post@bulk']

type Redis = ReturnType<RedisServer['connect']>

/** The point of a run at which a proxy holds it: the command itself is not passed on, or its answer. */
interface Hold {
  readonly verb: 'ACK' | 'FETCH'
  readonly what: 'command' | 'answer'
  /** The number of commands that pass before. */
  readonly after: number
}

/** A proxy before a Faktory server, which can hold one of its clients back. */
async function slowProxy(serverPort: number) {
  let hold: Hold | undefined
  let reached: () => void = () => undefined
  const server = createServer((client) => {
    const upstream = connect(serverPort, '127.0.0.1')
    let rest = ''
    let seen = 0
    let isHeld = false
    client.on('data', (chunk: Buffer) => {
      const lines = (rest + chunk.toString()).split('\n')
      rest = lines.pop() ?? ''
      for (const line of lines) {
        if (isHeld) return
        if (hold && line.startsWith(hold.verb)) {
          seen += 1
          isHeld = seen > hold.after
          if (isHeld && hold.what === 'answer') upstream.write(`${line}\n`)
          if (isHeld) reached()
        }
        if (!isHeld) upstream.write(`${line}\n`)
      }
    })
    upstream.on('data', (chunk: Buffer) => {
      if (!isHeld) client.write(chunk)
    })
    const end = (): void => {
      client.destroy()
      upstream.destroy()
    }
    for (const socket of [client, upstream]) socket.on('close', end).on('error', end)
  })
  return {
    port: await portOfTest(server),
    /** Holds the next run there; settles when it is held. */
    holdAt: (next: Hold): Promise<void> => {
      hold = next
      return new Promise((resolve) => (reached = resolve))
    },
    release: (): void => void (hold = undefined),
  }
}

/** The jids of jobs whose ids a function finds by lane. */
async function jidsOf(
  redis: Redis,
  idsIn: (lane: string) => Promise<readonly string[]>,
): Promise<readonly string[]> {
  const found: string[] = []
  for (const lane of lanes) {
    for (const id of await idsIn(lane)) {
      found.push((await redis.hget(`job:${lane}:${id}`, 'jid')) ?? `${lane} ${id}`)
    }
  }
  return found
}

describe.skipIf(lacksRedis)('needs redis-server: a move from a live Faktory server', () => {
  // A Faktory server cannot be installed here: `crossgear faktory` with a store of its own stands for it.
  const old = redisOfSuite({ isEmptied: true })
  const target = redisOfSuite({ isEmptied: true })

  test('killed between storing and acknowledging, and while it fetches, leaves each job once', async () => {
    const server = gatewayOfTest(['faktory', '-b', '127.0.0.1:0', '-w', ':0'], {
      CROSSGEAR_REDIS_URL: `unix://${old().path}`,
    })
    const serverPort = (await server.ready).port('faktory')
    const producer = await FaktoryConnection.open({ port: serverPort })
    const pushed = Array.from({ length: jobs }, (_none, at) => `jid-number-${at}`)
    const pushes = pushed.map((jid, at) => ({
      jid,
      jobtype: at % 3 === 0 ? 'Mail' : 'Post',
      queue: at % 2 === 0 ? 'default' : 'bulk',
      args: [at],
    }))
    expect(String(await producer.ask('PUSHB', pushes))).toBe('{}')
    await producer.end()

    const [from, to] = [old().connect(), target().connect()]
    onTestFinished(() => to.disconnect())
    const leased = () => jidsOf(from, (lane) => from.zrange(`xg:busy:${lane}`, '0', '-1'))
    const stored = () => jidsOf(to, (lane) => to.lrange(`queue:${lane}:normal`, '0', '-1'))
    const proxy = await slowProxy(serverPort)
    const source = `faktory://127.0.0.1:${proxy.port}`
    const words = ['migrate', 'run', '--from', source, '--to', target().url, '--move']
    const runUntil = async (hold: Hold): Promise<void> => {
      const held = proxy.holdAt(hold)
      const { child, exited } = startGateway([...words, '--batch', '50'])
      await Promise.race([held, exited])
      if (hold.what === 'answer') {
        // Jobs that the server has handed out, and that the tool does not know of.
        const known = new Set(await stored())
        await waitFor('jobs are leased', async () =>
          (await leased()).some((jid) => !known.has(jid)),
        )
      }
      child.kill('SIGKILL')
      expect((await exited).code).toBeNull()
    }

    const random = (below: number): number => Math.floor(Math.random() * below)
    const holds: readonly Hold[] = [
      { verb: 'ACK', what: 'command', after: random(150) },
      // The first acknowledgements of this run are those that the killed one owed.
      { verb: 'ACK', what: 'command', after: random(20) },
      { verb: 'FETCH', what: 'answer', after: 50 + random(100) },
    ]
    let owed = 0
    for (const hold of holds) {
      await runUntil(hold)
      const there = new Set(await stored())
      if ((await leased()).some((jid) => there.has(jid))) owed += 1
    }
    expect(owed).toBeGreaterThan(1)

    proxy.release()
    const last = await heard(runMigrate, words.slice(1))
    expect([last.code, last.stderr]).toEqual([0, ''])
    const byThen = await stored()
    const left = await leased()
    expect(new Set([...byThen, ...left]).size).toBe(byThen.length + left.length)
    // Jobs that the server had handed out to a run that was killed before it had stored them.
    expect(left.length).toBeGreaterThan(0)

    await server.end()
    from.disconnect()
    const copy = ['migrate', 'run', '--from', `gearmonkey+redis://127.0.0.1:${old().port}`]
    const rest = [...copy, '--to', target().url, '--name', 'rest', '--states', 'working']
    const copied = await heard(runMigrate, rest.slice(1))
    expect([copied.code, copied.stderr]).toEqual([0, ''])
    expect((await stored()).toSorted()).toEqual(pushed.toSorted())
  })
})
