import { expect, test, vi } from 'vitest'
import { soon } from '@crossgear/tools/wait-for'
import { GearmanPeer } from '../../gearman/support/gearman-peer.ts'
import { kitsNamed, present, type StockKit } from './kits.ts'
import type { Stage } from './stage.ts'
import { hex, type StockProcess } from './stock-process.ts'

const [plain] = kitsNamed('c', 'php', 'perl')
const finished = /^known 0 0 0(\.0+)?( 0)?$/

/** Handle in what a client said of a background job. */
async function submitted(lines: Promise<readonly string[]>): Promise<string> {
  const [word, handle = ''] = (await lines)[0]?.split(' ') ?? []
  expect(word).toBe('created')
  return handle
}

/** Resolves when the client is told that the job is no more. */
function gone(client: StockProcess, handle: string): Promise<void> {
  return vi.waitFor(async () => {
    const [status] = await client.ask('status', '-', '', handle)
    expect(status).toMatch(finished)
  }, soon)
}

/** Everything each client can do, with an obedient worker. */
export function alone(stage: Stage): void {
  const clientWorker = async (kit: StockKit, prefix: string) => {
    if (!plain) throw new Error('no worker to test with')
    return [stage.client(kit), await stage.worker(plain, prefix)] as const
  }
  const withKit = test.skipIf(!plain && 'php-gearman')

  withKit.each(present)('$name: background jobs run by priority', async (kit) => {
    const prefix = `order-${kit.name}`
    const client = stage.client(kit)
    for (const verb of ['bg-low', 'bg', 'bg-high']) {
      await submitted(client.ask(verb, `${prefix}-note`, verb, `order-${kit.name}-${verb}`))
    }
    const [, worker] = await clientWorker(kit, prefix)
    for (const verb of ['bg-high', 'bg', 'bg-low']) {
      expect(await worker.waitForLine('got')).toBe(`got ${hex(verb)}`)
    }
  })

  withKit.each(present)('$name: status of a background job', async (kit) => {
    const prefix = `status-${kit.name}`
    const waiting = kit.streams ? 'known 1 0 0.0000' : 'known 1 0 0 0'
    const running = kit.streams ? 'known 1 1 0.2500' : 'known 1 1 1 4'
    const client = stage.client(kit)
    const handle = await submitted(client.ask('bg', `${prefix}-hold`, 'x', prefix))
    expect(await client.ask('status', '-', '', handle)).toEqual([waiting])
    const [, worker] = await clientWorker(kit, prefix)
    await worker.waitForLine('holding')
    await vi.waitFor(async () => {
      expect(await client.ask('status', '-', '', handle)).toEqual([running])
    }, soon)
    if (kitsNamed('c', 'php').includes(kit)) {
      expect(await client.ask('unique', '-', '', prefix)).toEqual([running])
    }
    worker.send('go')
    await gone(client, handle)
  })

  // The timeout of abraxas ends when the job has been taken.
  const impatient = kitsNamed('c', 'php', 'perl', 'gearmanode')
  withKit.each(impatient)('$name: a client that loses patience goes on', async (kit) => {
    const prefix = `patience-${kit.name}`
    const [client, worker] = await clientWorker(kit, prefix)
    await client.ask('patience', '-', '', '300')
    expect(await client.ask('do', `${prefix}-hold`, 'x')).toContain('timeout')
    await client.ask('patience', '-', '', '-1')
    await worker.waitForLine('holding')
    worker.send('go')
    const heard = await client.ask('do', `${prefix}-echo`, 'on')
    expect(heard.at(-1)).toEqual(`complete ${hex('on')}`)
  })

  withKit.each(kitsNamed('c', 'php', 'perl'))('$name: one job for one unique id', async (kit) => {
    const prefix = `same-${kit.name}`
    const [client, worker] = await clientWorker(kit, prefix)
    const peer = await GearmanPeer.connect(stage.bridge.clientPorts.gearman)
    const heard = client.ask('same', `${prefix}-hold`, 'x', '3', prefix)
    await worker.waitForLine('holding')
    await vi.waitFor(async () => {
      const status = await peer.ask('GET_STATUS_UNIQUE', prefix)
      expect(status).toEqual(['STATUS_RES_UNIQUE', prefix, '1', '1', '1', '4', '3'])
    }, soon)
    worker.send('go')
    const completed = (await heard).filter((line) => line === `complete ${hex('x')}`)
    expect(completed).toHaveLength(3)
    expect(worker.said.filter((line) => line.startsWith('holding'))).toHaveLength(1)
    await peer.leave()
  })

  withKit('jobs for later are done when they are due', async () => {
    const due = async (kit: StockKit): Promise<void> => {
      const prefix = `later-${kit.name}`
      const [client, worker] = await clientWorker(kit, prefix)
      const dueSeconds = Math.floor(Date.now() / 1000) + 4
      const more = [String(dueSeconds), prefix]
      const handle = await submitted(client.ask('later', `${prefix}-note`, 'x', ...more))
      expect((await client.ask('status', '-', '', handle))[0]).toMatch(/^known 1 0 /)
      expect(await worker.waitForLine('got')).toBe(`got ${hex('x')}`)
      expect(Date.now()).toBeGreaterThanOrEqual(dueSeconds * 1000)
    }
    await Promise.all(kitsNamed('c', 'abraxas').map(due))
  })

  withKit.each(kitsNamed('c', 'php', 'gearmanode', 'abraxas'))('$name: echo', async (kit) => {
    const [line] = await stage.client(kit).ask('ping', '-', 'are you there')
    expect(line).toMatch(/^echo (GEARMAN_)?success$/i)
  })

  withKit.each(kitsNamed('perl', 'abraxas'))('$name: figures of a function', async (kit) => {
    const prefix = `figures-${kit.name}`
    const [client, worker] = await clientWorker(kit, prefix)
    await submitted(client.ask('bg', `${prefix}-hold`, 'x', prefix))
    await worker.waitForLine('holding')
    await vi.waitFor(async () => {
      expect(await client.ask('figures', `${prefix}-hold`, '')).toEqual(['figures 1 1 1'])
    }, soon)
    worker.send('go')
  })

  withKit.each(kitsNamed('c', 'php'))('$name: the call that waits for one job', async (kit) => {
    const prefix = `one-${kit.name}`
    const [client] = await clientWorker(kit, prefix)
    const ask = (name: string) => client.ask('one', `${prefix}-${name}`, 'x')
    expect(await ask('talk')).toEqual([`complete ${hex('onet\0oend')}`])
    expect(await ask('fail')).toEqual(['fail'])
    expect(await ask('boom')).toEqual(['exception -'])
  })

  withKit.each(kitsNamed('php'))('$name: priorities and background tasks', async (kit) => {
    const client = stage.client(kit)
    expect(await client.ask('bg-tasks', 'tasks-php-note', 'x')).toHaveLength(3)
    const [, worker] = await clientWorker(kit, 'tasks-php')
    for (const priority of ['high', 'normal', 'low']) {
      expect(await worker.waitForLine('got')).toBe(`got ${hex(`x${priority}`)}`)
    }
    for (const verb of ['one-high', 'one-low']) {
      expect(await client.ask(verb, 'tasks-php-echo', verb)).toEqual([`complete ${hex(verb)}`])
    }
    const handle = await submitted(client.ask('bg', 'tasks-php-hold', 'x', 'tasks-php'))
    await worker.waitForLine('holding')
    await vi.waitFor(async () => {
      expect(await client.ask('task-status', '-', '', handle)).toEqual(['known 1 1 1 4'])
    }, soon)
  })

  // The library says that the job threw and that it failed; an error to the second would end it.
  withKit.each(kitsNamed('perl'))('$name: a worker lives on when a function dies', async (kit) => {
    const client = stage.client(plain ?? kit)
    await stage.worker(kit, 'dies')
    expect((await client.ask('do', 'dies-die', 'x')).join()).toMatch(/^exception /)
    expect(await client.ask('do', 'dies-echo', 'on')).toEqual([`complete ${hex('on')}`])
  })

  withKit.each(kitsNamed('c'))(
    '$name: a late worker gets an error before its next job',
    async (kit) => {
      const prefix = `late-${kit.name}`
      const client = stage.client(kit)
      const late = await stage.worker(kit, prefix, '1000')
      const heard = client.ask('do', `${prefix}-hold`, 'x')
      await late.waitForLine('holding')
      const sleeper = await GearmanPeer.connect(stage.bridge.workerPorts.gearman)
      sleeper.send('CAN_DO', `${prefix}-hold`).send('PRE_SLEEP')
      expect(await sleeper.receive()).toEqual(['NOOP'])
      await sleeper.leave()
      for (const line of ['too late', 'in time']) late.send(line)
      expect((await heard).at(-1)).toBe(`complete ${hex('x')}`)
      expect(await client.ask('do', `${prefix}-echo`, 'on')).toEqual([`complete ${hex('on')}`])
      const words = late.said.map((line) => line.split(' ', 1)[0])
      expect(words).toEqual(['ready', 'holding', 'error', 'holding'])
    },
  )

  withKit('a job that a worker holds too long goes to another', async () => {
    const leased = async (kit: StockKit): Promise<void> => {
      const prefix = `lease-${kit.name}`
      const client = stage.client(kit)
      const slow = await stage.worker(kit, prefix, '1')
      const heard = client.ask('do', `${prefix}-hold`, 'x')
      await slow.waitForLine('holding')
      const next = await stage.worker(kit, prefix, '60000')
      await next.waitForLine('holding')
      next.send('go')
      const lines = await heard
      expect(lines.at(-1)).toBe(`complete ${hex('x')}`)
      expect(slow.said.filter((line) => line.startsWith('holding'))).toHaveLength(1)
    }
    await Promise.all(present.map(leased))
  })
}
