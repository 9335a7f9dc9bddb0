import type { RedisServer } from '@crossgear/tools/redis-server'
import { Agent } from 'node:http'
import { expect, onTestFinished, vi } from 'vitest'
import { soon } from '@crossgear/tools/wait-for'
import { createWebServer } from '../../../../src/web/web-server.ts'
import { FwpClient } from '../../../doors/faktory/support/fwp-client.ts'
import { GearmanPeer } from '../../../doors/gearman/support/gearman-peer.ts'
import { ask, type Answer } from '../../../doors/http/support/http-client.ts'
import {
  type ComposedGateway,
  type Flags,
  openOn,
} from '../../../config/options/composed-gateway.ts'
import { recordingLog } from '../../../support/recording-log.ts'

/** How long a change of the store may take to show, milliseconds. */

/** Each door's answer to a submission. */
type Answers = Readonly<Record<'gearman' | 'faktory' | 'http', string>>

const taken: Answers = { gearman: 'JOB_CREATED', faktory: '+OK', http: '200 JOB_CREATED' }

/**
 * A whole gateway in this process, whose Gearman and Faktory connections stand through everything: one
 * that breaks fails the test.
 */
export class TroubledGateway {
  readonly faktory: FwpClient
  readonly #gateway: ComposedGateway
  readonly #client: GearmanPeer
  readonly #worker: GearmanPeer
  readonly #webPort: number
  readonly #agent = new Agent({ keepAlive: true, maxSockets: 1 })
  #jobs = 0

  private constructor(
    gateway: ComposedGateway,
    [client, worker, faktory]: readonly [GearmanPeer, GearmanPeer, FwpClient],
    webPort: number,
  ) {
    this.#gateway = gateway
    this.#client = client
    this.#worker = worker
    this.faktory = faktory
    this.#webPort = webPort
  }

  /** Opens it on a store that works, and hands in the first jobs. Ends with the test. */
  static async open(
    server: Pick<RedisServer, 'url' | 'thaw'>,
    redisUrl = server.url,
    flags: Flags = {},
  ): Promise<TroubledGateway> {
    const composed = await openOn(() => redisUrl, 10_000, 1_500)(flags)
    const web = createWebServer({
      figures: composed.figures,
      log: recordingLog().log,
      check: composed.check,
    })
    onTestFinished(() => web.close())
    const { port } = await web.listen({ host: '127.0.0.1', port: 0 })
    const peers = [
      await GearmanPeer.connect(composed.port('gearman')),
      await GearmanPeer.connect(composed.port('gearman')),
      await FwpClient.greeted(composed.port('faktory'), { wid: 'troubled' }),
    ] as const
    const gateway = new TroubledGateway(composed, peers, port)
    onTestFinished(() => {
      server.thaw()
      gateway.#leave()
    })
    peers[1].send('CAN_DO', 'mail')
    await gateway.takesJobs()
    return gateway
  }

  /** The lines of its log. */
  get logged(): readonly string[] {
    return this.#gateway.log
  }

  /** One more Gearman connection, that can do these functions. */
  peer(...functions: readonly string[]): Promise<GearmanPeer> {
    return this.#gateway.peer(...functions)
  }

  /** One HTTP request, on a connection of its own. */
  post(path: string, headers: Readonly<Record<string, string>> = {}): Promise<Answer> {
    return ask(this.#gateway.port('http'), path, { headers })
  }

  /** The answer of `/readyz`. */
  async readiness(): Promise<{ readonly status: number; readonly reason?: string }> {
    const answer = await fetch(`http://127.0.0.1:${this.#webPort}/readyz`)
    const { reason } = (await answer.json()) as { reason?: string }
    return { status: answer.status, ...(reason !== undefined && { reason }) }
  }

  /** How many refusals of the store a door has counted. */
  async refusals(door: string): Promise<number> {
    const page = await this.#gateway.metrics()
    const count = new RegExp(`rejected_total\\{door="${door}",reason="store"\\} (\\d+)`).exec(page)
    return Number(count?.[1] ?? 0)
  }

  /** Hands in a job by each door, over the connections that have been there from the start. */
  async handIn(): Promise<Answers> {
    this.#jobs += 1
    const headers = { 'X-Gearman-Background': 'true' }
    const job = { jid: `troubled-${this.#jobs}`, jobtype: 'mail', args: [] }
    const [gearman, faktory, http] = await Promise.all([
      this.#client.ask('SUBMIT_JOB_BG', 'mail', '', ''),
      this.faktory.ask(`PUSH ${JSON.stringify(job)}`),
      ask(this.#gateway.port('http'), '/mail', { headers, agent: this.#agent }),
    ])
    const command = http.headers['x-gearman-command'] ?? 'no job'
    const said = gearman[0] === 'ERROR' ? gearman.slice(1).join(' ') : gearman[0]
    return { gearman: said ?? '', faktory, http: `${http.status} ${command.toString()}` }
  }

  /** Resolves when the gateway says that it is not ready. */
  async isTroubled(reason = /./): Promise<void> {
    await vi.waitFor(async () => {
      const ready = await this.readiness()
      expect(ready).toEqual({ status: 503, reason: expect.stringMatching(reason) as string })
    }, soon)
  }

  /** Every door refuses in its own words, and readiness names the reason. */
  async refusesJobs(faktory: RegExp, reason: RegExp): Promise<void> {
    await this.isTroubled(reason)
    expect(await this.handIn()).toEqual({
      gearman: expect.stringMatching(/^QUEUE_ERROR the job store /) as string,
      faktory: expect.stringMatching(faktory) as string,
      http: '503 no job',
    })
  }

  /** Every door takes jobs again. */
  async takesJobs(): Promise<void> {
    await vi.waitFor(async () => expect(await this.readiness()).toEqual({ status: 200 }), soon)
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
