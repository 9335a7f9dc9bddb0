import { expect } from 'vitest'
import { FwpClient } from '../../faktory/support/fwp-client.ts'
import { GearmanPeer } from '../../gearman/support/gearman-peer.ts'
import { ask } from '../../http/support/http-client.ts'

export interface Ports {
  readonly gearman: number
  readonly faktory: number
  readonly http: number
  readonly web: number
}

const fn = 'healthy'
const queue = 'healthy-queue'
const reversed = (text: string): string => text.split('').reverse().join('')

/** A client and a worker at each door, which are to be served whatever others do. */
export class HealthyPeers {
  readonly #ports: Ports
  readonly #client: GearmanPeer
  readonly #worker: GearmanPeer
  readonly #producer: FwpClient
  readonly #consumer: FwpClient
  readonly #working: Promise<void>
  #round = 0

  private constructor(
    ports: Ports,
    gearman: readonly [GearmanPeer, GearmanPeer],
    faktory: readonly [FwpClient, FwpClient],
  ) {
    this.#ports = ports
    this.#client = gearman[0]
    this.#worker = gearman[1]
    this.#producer = faktory[0]
    this.#consumer = faktory[1]
    this.#working = this.#work()
  }

  static async connect(ports: Ports): Promise<HealthyPeers> {
    const { gearman, faktory } = ports
    return new HealthyPeers(
      ports,
      [await GearmanPeer.connect(gearman), await GearmanPeer.connect(gearman)],
      [await FwpClient.greeted(faktory), await FwpClient.greeted(faktory, { wid: 'healthy' })],
    )
  }

  /** One job through each door, done by a worker, its outcome heard. */
  async served(): Promise<void> {
    this.#round += 1
    const text = `round ${this.#round}`
    await Promise.all([this.#gearman(text), this.#faktory(text), this.#http(text), this.#web()])
  }

  async leave(): Promise<void> {
    this.#producer.close()
    this.#consumer.close()
    await this.#client.leave()
    await this.#worker.leave()
    void this.#working
  }

  async #gearman(text: string): Promise<void> {
    const handle = await this.#client.submit('SUBMIT_JOB', fn, '', text)
    expect(await this.#client.receive()).toEqual(['WORK_COMPLETE', handle, reversed(text)])
  }

  async #faktory(text: string): Promise<void> {
    const jid = `healthy-${this.#round}`
    const job = JSON.stringify({ jid, jobtype: 'healthy-job', queue, args: [text] })
    expect(await this.#producer.ask(`PUSH ${job}`)).toBe('+OK')
    const fetched = await this.#consumer.askJson(`FETCH ${queue}`)
    expect(fetched).toMatchObject({ jid, args: [text] })
    expect(await this.#consumer.ask(`ACK ${JSON.stringify({ jid })}`)).toBe('+OK')
  }

  async #http(text: string): Promise<void> {
    const { status, body } = await ask(this.#ports.http, `/${fn}`, {}, text)
    expect([status, body.toString()]).toEqual([200, reversed(text)])
  }

  async #web(): Promise<void> {
    const { status } = await ask(this.#ports.web, '/healthz', { method: 'GET' })
    expect(status).toBe(200)
  }

  async #work(): Promise<void> {
    const worker = this.#worker.send('CAN_DO', fn)
    for (;;) {
      const [reply, handle = '', , text = ''] = await worker.ask('GRAB_JOB')
      if (reply === 'JOB_ASSIGN') worker.send('WORK_COMPLETE', handle, reversed(text))
      else if (reply === 'NO_JOB') await worker.ask('PRE_SLEEP')
    }
  }
}
