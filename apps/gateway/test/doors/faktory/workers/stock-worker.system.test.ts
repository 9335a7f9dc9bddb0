import { fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { Client } from 'faktory-worker'
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest'
import { lacksRedis } from '@crossgear/tools/redis-server'
import { soon } from '@crossgear/tools/wait-for'
import { startGateway, wordsOn } from '../../../support/gateway-process.ts'
import { redisOfSuite } from '../../../support/redis-of-suite.ts'

const program = fileURLToPath(new URL('../programs/stock-worker.mjs', import.meta.url))

type Said = Readonly<Record<string, unknown>>

/** A worker process at a port, what it says, and how it ends. */
async function stockWorker(port: number, wid: string) {
  const child = fork(program, [String(port), wid], { execArgv: [] })
  onTestFinished(() => void child.kill('SIGKILL'))
  const said: Said[] = []
  child.on('message', (message: Said) => void said.push(message))
  const ended = once(child, 'exit') as Promise<[number | null, string | null]>
  const says = (expected: Said): Promise<void> =>
    vi.waitFor(() => expect(said).toContainEqual(expected), soon)
  await says({ said: 'ready' })
  return { child, said, says, ended }
}

describe.skipIf(lacksRedis)('a worker process of the npm package faktory-worker', () => {
  const redis = redisOfSuite()
  let gateways: ReturnType<typeof startGateway>[] = []
  let ports: { readonly faktory: number; readonly web: number }[] = []
  beforeAll(async () => {
    const words = wordsOn(redis(), 'faktory', 'web')
    gateways = [startGateway(words), startGateway(words)]
    const ready = await Promise.all(gateways.map((gateway) => gateway.ready))
    ports = ready.map(({ port }) => ({ faktory: port('faktory'), web: port('web') }))
  })
  afterAll(async () => {
    for (const gateway of gateways) await gateway.end()
  })

  function producer(): Client {
    const client = new Client({ host: '127.0.0.1', port: ports[0]!.faktory })
    onTestFinished(() => client.close())
    return client
  }

  async function push(client: Client, name: string, queue = 'default'): Promise<string> {
    const job = client.job('wait', name)
    job.queue = queue
    return job.push()
  }

  async function operate(web: number, order: object): Promise<number> {
    const { status } = await fetch(`http://127.0.0.1:${web}/busy`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(order),
    })
    return status
  }

  test('runs two jobs at a time through its middleware, the first queue first', async () => {
    const client = producer()
    await push(client, 'c')
    await push(client, 'a', 'critical')
    await push(client, 'b', 'critical')
    const { child, said, says } = await stockWorker(ports[1]!.faktory, 'two-at-a-time')
    await says({ said: 'started', name: 'a' })
    await says({ said: 'started', name: 'b' })
    expect(said).not.toContainEqual({ said: 'started', name: 'c' })
    child.send('a')
    await says({ said: 'started', name: 'c' })
    child.send('b')
    child.send('c')
    await vi.waitFor(
      () => expect(said.filter((one) => one['said'] === 'after')).toHaveLength(3),
      soon,
    )
    await vi.waitFor(async () => {
      expect((await client.info()).faktory).toMatchObject({ tasks: { Busy: { size: 0 } } })
    }, soon)
  })

  test('that gets SIGTERM finishes the jobs it has, and takes no other', async () => {
    const client = producer()
    const { child, says, said, ended } = await stockWorker(ports[1]!.faktory, 'term')
    // A FETCH of this package that is under way takes a job even after the signal: both hands are full.
    const held = [await push(client, 'one'), await push(client, 'two')]
    await says({ said: 'started', name: 'one' })
    await says({ said: 'started', name: 'two' })
    child.kill('SIGTERM')
    await says({ said: 'quiet' })
    const left = await push(client, 'left')
    child.send('one')
    child.send('two')
    expect(await ended).toEqual([0, null])
    expect(said).not.toContainEqual({ said: 'started', name: 'left' })
    expect(await client.fetch('default')).toMatchObject({ jid: left })
    await client.ack(left)
    for (const jid of held) {
      expect(await client.send(['TRACK', 'GET', jid])).toContain('"state":"unknown"')
    }
  })

  test('becomes quiet, and then ends, on an operator’s order at another gateway', async () => {
    const client = producer()
    const { child, says, said, ended } = await stockWorker(ports[1]!.faktory, 'told')
    await push(client, 'last')
    await says({ said: 'started', name: 'last' })
    expect(await operate(ports[0]!.web, { wid: 'told', signal: 'quiet' })).toBe(202)
    await says({ said: 'quiet' })
    const left = await push(client, 'left')
    child.send('last')
    await says({ said: 'after', jobtype: 'wait' })
    const shown = (await (await fetch(`http://127.0.0.1:${ports[1]!.web}/busy`)).json()) as {
      readonly workers: readonly Said[]
    }
    expect(shown.workers).toContainEqual({
      wid: 'told',
      hostname: expect.any(String),
      pid: child.pid,
      labels: [],
      state: 'quiet',
      rss_kb: expect.any(Number),
      jobs: expect.any(Number),
      connections: expect.any(Number),
      seconds_since_beat: expect.any(Number),
    })
    expect(await operate(ports[0]!.web, { wid: 'all', signal: 'terminate' })).toBe(202)
    expect(await ended).toEqual([0, null])
    expect(said).not.toContainEqual({ said: 'started', name: 'left' })
    expect(await client.fetch('default')).toMatchObject({ jid: left })
    await client.ack(left)
  })

  test.each([
    [{ wid: 'told', signal: 'running' }, 400],
    [{ signal: 'quiet' }, 400],
    [{ wid: 'a\0b', signal: 'quiet' }, 400],
    [[], 400],
  ])('/busy refuses %j', async (order, status) => {
    expect(await operate(ports[0]!.web, order)).toBe(status)
  })
})
