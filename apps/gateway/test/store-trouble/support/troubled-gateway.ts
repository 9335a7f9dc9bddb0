import type { RedisServer } from '@crossgear/tools/redis-server'
import { Agent } from 'node:http'
import { expect, onTestFinished, vi } from 'vitest'
import { loadConfig } from '../../../src/config/load-config.ts'
import { compose } from '../../../src/server/compose.ts'
import { openStore } from '../../../src/redis-server/open-store.ts'
import { createWebServer } from '../../../src/web/web-server.ts'
import { FwpClient } from '../../faktory/support/fwp-client.ts'
import { GearmanPeer } from '../../gearman/support/gearman-peer.ts'
import { ask, type Answer } from '../../http/support/http-client.ts'
import { recordingLog } from '../../support/recording-log.ts'

/** How long a change of the store may take to show, milliseconds. */
const patience = { timeout: 30_000, interval: 50 }

/** Each door's answer to a submission. */
type Answers = Readonly<Record<'gearman' | 'faktory' | 'http', string>>

const taken: Answers = { gearman: 'JOB_CREATED', faktory: '+OK', http: '200 JOB_CREATED' }

/**
 * A whole gateway in this process, whose Gearman and Faktory connections stand through everything: one
 * that breaks fails the test.
 */
export class TroubledGateway {
  readonly logged: readonly string[]
  readonly faktory: FwpClient
  readonly #client: GearmanPeer
  readonly #worker: GearmanPeer
  readonly #gearmanPort: number
  readonly #httpPort: number
  readonly #webPort: number
  readonly #agent = new Agent({ keepAlive: true, maxSockets: 1 })
  #jobs = 0

  private constructor(
    logged: readonly string[],
    peers: readonly [client: GearmanPeer, worker: GearmanPeer, faktory: FwpClient],
    ports: { readonly gearman: number; readonly http: number; readonly web: number },
  ) {
    this.logged = logged
    const [client, worker, faktory] = peers
    this.#client = client
    this.#worker = worker
    this.faktory = faktory
    this.#gearmanPort = ports.gearman
    this.#httpPort = ports.http
    this.#webPort = ports.web
  }

  /** Opens it on a store that works, and hands in the first jobs. Ends with the test. */
  static async open(
    server: Pick<RedisServer, 'url' | 'thaw'>,
    redisUrl = server.url,
  ): Promise<TroubledGateway> {
    const ports = { gearmanPort: '0', faktoryPort: '0', httpPort: '0', webPort: '0' }
    const config = loadConfig({ flags: { ...ports, redisUrl }, env: {} })
    const { log, lines } = recordingLog()
    const composition = await compose({
      ...{ config, version: '0.1.0', tls: {}, log },
      store: await openStore(config, log),
      shutdown: () => undefined,
      answerWithinMs: 500,
    })
    const web = createWebServer({
      figures: composition.figures,
      log,
      check: () => composition.check(),
    })
    const there = { host: '127.0.0.1', port: 0 }
    const open = new Map<string, number>([['web', (await web.listen(there)).port]])
    for (const door of composition.doors) open.set(door.name, (await door.listen()).port)
    const port = (door: string): number => open.get(door) ?? 0
    const peers = [
      await GearmanPeer.connect(port('gearman')),
      await GearmanPeer.connect(port('gearman')),
      await FwpClient.greeted(port('faktory'), { wid: 'troubled' }),
    ] as const
    const ported = { gearman: port('gearman'), http: port('http'), web: port('web') }
    const gateway = new TroubledGateway(lines, peers, ported)
    onTestFinished(async () => {
      server.thaw()
      gateway.#leave()
      await web.close()
      for (const door of composition.doors) await door.close()
      await composition.close()
    })
    peers[1].send('CAN_DO', 'mail')
    await gateway.takesJobs()
    return gateway
  }

  /** One more Gearman connection, that can do these functions. */
  async peer(...functions: readonly string[]): Promise<GearmanPeer> {
    const peer = await GearmanPeer.connect(this.#gearmanPort)
    onTestFinished(() => peer.leave())
    for (const fn of functions) peer.send('CAN_DO', fn)
    return peer
  }

  /** One HTTP request, on a connection of its own. */
  post(path: string, headers: Readonly<Record<string, string>> = {}): Promise<Answer> {
    return ask(this.#httpPort, path, { headers })
  }

  /** The answer of `/readyz`. */
  async readiness(): Promise<{ readonly status: number; readonly reason?: string }> {
    const answer = await fetch(`http://127.0.0.1:${this.#webPort}/readyz`)
    const { reason } = (await answer.json()) as { reason?: string }
    return { status: answer.status, ...(reason !== undefined && { reason }) }
  }

  /** Hands in a job by each door, over the connections that have been there from the start. */
  async handIn(): Promise<Answers> {
    this.#jobs += 1
    const headers = { 'X-Gearman-Background': 'true' }
    const job = { jid: `troubled-${this.#jobs}`, jobtype: 'mail', args: [] }
    const [gearman, faktory, http] = await Promise.all([
      this.#client.ask('SUBMIT_JOB_BG', 'mail', '', ''),
      this.faktory.ask(`PUSH ${JSON.stringify(job)}`),
      ask(this.#httpPort, '/mail', { headers, agent: this.#agent }),
    ])
    const command = http.headers['x-gearman-command'] ?? 'no job'
    const said = gearman[0] === 'ERROR' ? gearman[1] : gearman[0]
    return { gearman: said ?? '', faktory, http: `${http.status} ${command.toString()}` }
  }

  /** Resolves when the gateway says that it is not ready. */
  async isTroubled(reason = /./): Promise<void> {
    await vi.waitFor(async () => {
      const ready = await this.readiness()
      expect(ready).toEqual({ status: 503, reason: expect.stringMatching(reason) as string })
    }, patience)
  }

  /** Every door refuses in its own words, and readiness names the reason. */
  async refusesJobs(faktory: RegExp, reason: RegExp): Promise<void> {
    await this.isTroubled(reason)
    expect(await this.handIn()).toEqual({
      gearman: 'QUEUE_ERROR',
      faktory: expect.stringMatching(faktory) as string,
      http: '503 no job',
    })
  }

  /** Every door takes jobs again. */
  async takesJobs(): Promise<void> {
    await vi.waitFor(async () => expect(await this.readiness()).toEqual({ status: 200 }), patience)
    expect(await this.handIn()).toEqual(taken)
  }

  /** A worker that asks for a job is answered, and gets none. */
  async givesNoJobs(): Promise<void> {
    const [gearman, faktory] = await this.#grab()
    expect(gearman).toEqual(['NO_JOB'])
    expect(faktory).toMatch(/^-ERR the job store /)
  }

  /** A Gearman worker and a Faktory consumer are given a job, and end it. */
  async runsJobs(): Promise<void> {
    const [[assigned, handle = ''], fetched] = await this.#grab()
    expect([assigned, fetched.slice(0, 1)]).toEqual(['JOB_ASSIGN', '$'])
    this.#worker.send('WORK_COMPLETE', handle, 'done')
    await this.#worker.sync()
    const { jid } = JSON.parse(fetched.slice(fetched.indexOf('\n') + 1)) as { jid: string }
    expect(await this.faktory.ask(`ACK ${JSON.stringify({ jid })}`)).toBe('+OK')
  }

  async #grab(): Promise<readonly [gearman: readonly string[], faktory: string]> {
    return [await this.#worker.ask('GRAB_JOB'), await this.faktory.ask('FETCH default')]
  }

  #leave(): void {
    this.#client.socket.destroy()
    this.#worker.socket.destroy()
    this.faktory.close()
    this.#agent.destroy()
  }
}
