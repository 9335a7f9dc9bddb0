import { spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { lacks } from '@crossgear/tools/lacks'
import { GearMonkeyWorker } from '@crossgear/gearmonkey-redis'
import { lacksRedis } from '@crossgear/tools/redis-server'
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest'
import { soon } from '@crossgear/tools/wait-for'
import { Fleet, type FleetNode } from '../../bridge/support/fleet.ts'
import { FwpClient } from '../../doors/faktory/support/fwp-client.ts'
import { GearmanPeer } from '../../doors/gearman/support/gearman-peer.ts'

const lacksGearman = lacks('gearman', '-H')
const faktoryProgram = fileURLToPath(
  new URL('../../doors/faktory/programs/held-job-worker.mjs', import.meta.url),
)
/** A dead gateway is noticed in some 4 s. */

type Values = Readonly<Record<string, number>>

describe.skipIf(lacksRedis || lacksGearman)(
  'needs gearman-tools: the figures of real workers',
  () => {
    let fleet: Fleet
    const ends: (() => unknown)[] = []
    beforeAll(async () => {
      fleet = await Fleet.start()
    })
    afterEach(async () => {
      for (const end of ends.splice(0).reverse()) await end()
    })
    afterAll(() => fleet.close())

    const open = (): Promise<FleetNode> => fleet.node('--web-port', '0')

    function start(program: string, ...args: readonly string[]) {
      const child = spawn(program, args, { stdio: 'ignore' })
      const kill = async (): Promise<void> => {
        if (child.exitCode !== null || child.signalCode !== null) return
        child.kill('SIGKILL')
        await once(child, 'exit')
      }
      ends.push(kill)
      return { child, kill }
    }

    const gearmanWorker = (node: FleetNode, fn: string, shell: string) =>
      start(
        'gearman',
        '-h',
        '127.0.0.1',
        '-p',
        `${node.gearman}`,
        '-w',
        '-f',
        fn,
        '--',
        'sh',
        '-c',
        shell,
      )

    const faktoryWorker = (node: FleetNode, fn: string, queue: string) =>
      start(process.execPath, faktoryProgram, `${node.faktory}`, fn, queue)

    /** Values by name and labels, of those series that are not of other tests. */
    async function figures(node: FleetNode, fn: string, queue: string): Promise<Values> {
      const page = await (await fetch(`http://127.0.0.1:${node.web}/metrics`)).text()
      const wanted = /^crossgear_(workers|function_workers|consumers|clients)\{(.*)\} (\d+)$/gm
      const found = [...page.matchAll(wanted)].flatMap(([, name = '', labels = '', value]) => {
        const isOurs = labels.includes(fn) || name === 'consumers' || name === 'clients'
        const plain = labels
          .replaceAll('"', '')
          .replace(fn, 'fn')
          .replace(`queue=${queue}`, 'queue=q')
        return isOurs ? [[`${name} ${plain}`, Number(value)] as const] : []
      })
      return Object.fromEntries(found)
    }

    function shows(node: FleetNode, fn: string, queue: string, values: Values): Promise<void> {
      return vi.waitFor(async () => {
        expect(await figures(node, fn, queue)).toMatchObject(values)
      }, soon)
    }

    /** A gateway's own figures may be a second older than the store's on the same page. */
    function showsNone(
      node: FleetNode,
      fn: string,
      queue: string,
      names: readonly string[],
    ): Promise<void> {
      return vi.waitFor(async () => {
        const found = await figures(node, fn, queue)
        expect(names.map((name) => found[name] ?? 0)).toEqual(names.map(() => 0))
      }, soon)
    }

    test('of gearman -w: idle, busy, killed, and behind a gateway that is killed', async () => {
      const fn = randomUUID()
      const [here, there] = [await open(), await open()]
      const idle = 'workers function=fn,door=gearman,state=idle'
      const busy = 'workers function=fn,door=gearman,state=busy'
      const all = 'function_workers function=fn,queue=q'
      const worker = gearmanWorker(here, fn, 'sleep 600')
      gearmanWorker(there, fn, 'sleep 600')
      await shows(here, fn, 'default', {
        [idle]: 1,
        [busy]: 0,
        [all]: 2,
        'clients door=gearman': 0,
      })
      await shows(there, fn, 'default', { [idle]: 1, [busy]: 0, [all]: 2 })
      const client = await GearmanPeer.connect(here.gearman)
      ends.push(() => client.leave())
      await client.submit('SUBMIT_JOB_BG', fn, '', 'x')
      await client.submit('SUBMIT_JOB_BG', fn, '', 'y')
      await shows(here, fn, 'default', {
        [idle]: 0,
        [busy]: 1,
        [all]: 2,
        'clients door=gearman': 1,
      })
      await shows(there, fn, 'default', {
        [idle]: 0,
        [busy]: 1,
        [all]: 2,
        'clients door=gearman': 0,
      })
      await worker.kill()
      await showsNone(here, fn, 'default', [idle, busy])
      await shows(here, fn, 'default', { [all]: 1, 'clients door=gearman': 1 })
      await there.kill()
      await shows(here, fn, 'default', { [all]: 0 })
      await here.stop()
    })

    test('of the npm package faktory-worker: idle, busy, killed, and behind a gateway that is killed', async () => {
      const [fn, queue] = [randomUUID(), randomUUID()]
      const [here, there] = [await open(), await open()]
      const idle = 'consumers queue=q,state=idle'
      const busy = 'consumers queue=q,state=busy'
      const busyOfFunction = 'workers function=fn,door=faktory,state=busy'
      const all = 'function_workers function=fn,queue=q'
      const worker = faktoryWorker(here, fn, queue)
      faktoryWorker(there, fn, queue)
      await shows(here, fn, queue, { [idle]: 1, [busy]: 0, 'clients door=faktory': 0 })
      await shows(there, fn, queue, { [idle]: 1, [busy]: 0, 'clients door=faktory': 0 })
      const producer = await FwpClient.greeted(here.faktory)
      ends.push(() => producer.close())
      for (const jid of [randomUUID(), randomUUID()]) {
        await producer.ask(`PUSH {"jid":"${jid}","jobtype":"${fn}","queue":"${queue}","args":[]}`)
      }
      const works = { [idle]: 0, [busy]: 1, [busyOfFunction]: 1, [all]: 2 }
      await shows(here, fn, queue, { ...works, 'clients door=faktory': 1 })
      await shows(there, fn, queue, works)
      await worker.kill()
      await showsNone(here, fn, queue, [idle, busy, busyOfFunction])
      await shows(here, fn, queue, { [all]: 1, 'clients door=faktory': 1 })
      await there.kill()
      await shows(here, fn, queue, { [all]: 0 })
      await here.kill()
    })

    test('of a GearMonkey worker: idle, busy and stopped, at all gateways', async () => {
      const fn = randomUUID()
      const [here, there] = [await open(), await open()]
      const all = 'function_workers function=fn,queue=q'
      const worker = new GearMonkeyWorker(fleet.server.url)
      let end: () => void = () => undefined
      const ended = new Promise<void>((resolve) => (end = resolve))
      let started = false
      await worker.accept(fn, async () => {
        started = true
        await ended
        return Buffer.from('')
      })
      const client = await GearmanPeer.connect(here.gearman)
      ends.push(() => client.leave())
      await client.submit('SUBMIT_JOB_BG', fn, '', 'x')
      await vi.waitFor(() => expect(started).toBe(true), soon)
      for (const node of [here, there]) await shows(node, fn, 'default', { [all]: 1 })
      const [found] = Object.keys(await figures(here, fn, 'default')).filter((name) =>
        name.startsWith('workers '),
      )
      expect(found).toBeUndefined()
      end()
      await worker.stop()
      for (const node of [here, there]) await shows(node, fn, 'default', { [all]: 0 })
      await Promise.all([here.stop(), there.stop()])
    })
  },
)
