import { mayBeStored, type Submitted } from '../check/history.ts'
import { functions, queues, reserveForSeconds } from '../world/settings.ts'
import { FaktoryPort, type FaktoryReply } from './faktory-port.ts'
import { connect, type Peer } from './peer.ts'

/** Pushes jobs of all kinds, one by one, in bulk and in batches. Sometimes it vanishes. */
export async function faktoryProducer(
  peer: Peer,
  jobs: number,
  storeNowMs: () => number,
): Promise<void> {
  const { random, clock, history } = peer
  let pushed = 0
  while (pushed < jobs) {
    const port = await connect(peer, 'faktory', new FaktoryPort())
    const producer = new Producer(peer, port, storeNowMs)
    if (await port.hello()) {
      for (let one = random.whole(1, 4); one > 0 && pushed < jobs && !port.isOver; one -= 1) {
        await clock.sleep(random.next() ** 3 * 400)
        const act = random.percent(15)
          ? producer.bulk
          : random.percent(20)
            ? producer.batch
            : producer.push
        pushed += await act(`${peer.name}-${pushed + 1}`)
      }
    } else await clock.sleep(200)
    if (!port.isOver && random.percent(20)) history.say(`${peer.name} leaves`)
    port.vanish()
  }
}

class Producer {
  readonly #peer: Peer
  readonly #port: FaktoryPort
  readonly #storeNowMs: () => number

  constructor(peer: Peer, port: FaktoryPort, storeNowMs: () => number) {
    this.#peer = peer
    this.#port = port
    this.#storeNowMs = storeNowMs
  }

  /** Each returns how many labels it took. */
  readonly push = async (label: string): Promise<number> => {
    const { job, fields } = this.#job(label)
    await this.#ask('PUSH', fields, [job])
    return 1
  }

  readonly bulk = async (label: string): Promise<number> => {
    const some = [1, 2, 3].map((part) => this.#job(`${label}0${part}`))
    await this.#ask(
      'PUSHB',
      some.map(({ fields }) => fields),
      some.map(({ job }) => job),
    )
    return 1
  }

  /** A batch of two jobs, perhaps with a child of one. */
  readonly batch = async (label: string): Promise<number> => {
    const { random } = this.#peer
    const bid = await this.#open(label)
    if (bid === undefined) return 1
    for (const part of [1, 2]) {
      const { job, fields } = this.#job(`${label}0${part}`, bid)
      if (!(await this.#ask('PUSH', fields, [job]))) return 1
    }
    if (random.percent(40)) {
      const child = await this.#open(`${label}04`, bid)
      if (child === undefined) return 1
      const { job, fields } = this.#job(`${label}05`, child)
      if (!(await this.#ask('PUSH', fields, [job]))) return 1
      await this.#commit(child)
    }
    await this.#commit(bid)
    return 1
  }

  /** The batch's id; undefined if nothing is known of it. */
  async #open(label: string, parent?: string): Promise<string | undefined> {
    const { history, timeline, name: by, random } = this.#peer
    const kinds = random.percent(50) ? (['success'] as const) : (['complete', 'success'] as const)
    const callbacks = Object.fromEntries(
      kinds.map((kind, at) => [
        kind,
        { ...this.#fields(`${label}0${8 + at}`, 'mail'), queue: 'default' },
      ]),
    )
    const answer = await this.#port.ask('BATCH NEW', {
      description: label,
      ...(parent !== undefined && { parent_bid: parent }),
      ...callbacks,
    })
    const bid = answer?.body ?? undefined
    if (bid === undefined) return undefined
    history.batch({ bid, parent, by, madeMs: timeline.nowMs })
    for (const [at, kind] of kinds.entries()) {
      const job = history.submit({
        label: `${label}0${8 + at}`,
        by,
        fn: 'mail',
        door: 'callback',
        foreground: false,
        submittedMs: timeline.nowMs,
        callbackOf: bid,
        callback: kind,
        retries: 25,
      })
      job.answer = 'unknown'
    }
    return bid
  }

  async #commit(bid: string): Promise<void> {
    const answer = await this.#port.ask('BATCH COMMIT', bid)
    this.#peer.history.committed(bid, answer?.line === '+OK')
  }

  #fields(label: string, fn: string): Record<string, unknown> {
    return {
      jid: `jid-${label}`,
      jobtype: fn,
      args: [label],
      reserve_for: reserveForSeconds,
      retry: 25,
    }
  }

  #job(label: string, bid?: string): { job: Submitted; fields: Record<string, unknown> } {
    const { random, history, name: by, timeline } = this.#peer
    const fn = random.pick(functions)
    const fields = this.#fields(label, fn)
    fields['queue'] = random.pick(queues)
    fields['priority'] = random.whole(1, 9)
    const retries = random.pick([25, undefined, 1, 0, -1])
    if (retries === undefined) delete fields['retry']
    else fields['retry'] = retries
    const isLater = bid === undefined && random.percent(20)
    const delayMs = random.whole(500, 3_000)
    if (isLater) fields['at'] = new Date(this.#storeNowMs() + delayMs).toISOString()
    const lock =
      bid === undefined && !isLater && random.percent(20) ? `lock${random.whole(1, 2)}` : undefined
    if (lock !== undefined) {
      // The lock is on jobtype, queue and arguments: its jobs share a payload, and so a label.
      fields['args'] = [lock]
      fields['custom'] = { unique_for: 600 }
    }
    const expiresInMs = random.percent(15) ? random.pick([1_500, 3_000, 600_000]) : undefined
    const expires = expiresInMs !== undefined && lock === undefined
    if (expires || bid !== undefined)
      fields['custom'] = {
        ...(bid !== undefined && { bid }),
        ...(expires && { expires_in: expiresInMs / 1_000 }),
      }
    const custom = {
      ...(fields['custom'] as object | undefined),
      ...(random.percent(30) && lock === undefined && { on_death: this.#onDeath(label) }),
    }
    if (Object.keys(custom).length > 0) fields['custom'] = custom
    const job = history.submit({
      label,
      by,
      fn,
      door: 'faktory',
      queue: String(fields['queue']),
      foreground: false,
      submittedMs: timeline.nowMs,
      ...(retries !== undefined && { retries }),
      ...(isLater && { dueAtMs: timeline.nowMs + delayMs }),
      ...(lock !== undefined && { lock: `${fn} ${String(fields['queue'])} ${lock}` }),
      ...(bid !== undefined && { batch: bid }),
      ...(expires && { expiresAtMs: timeline.nowMs + (isLater ? delayMs : 0) + expiresInMs }),
    })
    job.ref = String(fields['jid'])
    return { job, fields }
  }

  /** The job that tells of a job's death. */
  #onDeath(label: string): object {
    const { history, timeline, name: by } = this.#peer
    const teller = history.submit({
      label: `${label}06`,
      by,
      fn: 'report',
      door: 'callback',
      foreground: false,
      submittedMs: timeline.nowMs,
      deathOf: label,
      retries: 25,
    })
    teller.answer = 'unknown'
    const { jid: _, ...job } = this.#fields(teller.label, teller.fn)
    return { ...job, queue: 'default' }
  }

  /** True if the jobs were taken. */
  async #ask(verb: string, argument: object, jobs: readonly Submitted[]): Promise<boolean> {
    const answer = await this.#port.ask(verb, argument)
    const { history, timeline } = this.#peer
    const refusals =
      verb === 'PUSHB' && answer?.body ? (JSON.parse(answer.body) as Record<string, string>) : {}
    for (const job of jobs) {
      const refusal = refusals[`jid-${job.label}`] ?? refusalIn(answer)
      const isUnknown = answer === undefined || mayBeStored(refusal)
      const result = isUnknown ? 'unknown' : refusal === '' ? 'accepted' : 'refused'
      history.answered(job, result, timeline.nowMs, refusal)
    }
    return answer !== undefined && refusalIn(answer) === ''
  }
}

function refusalIn(answer: FaktoryReply | undefined): string {
  return answer?.line.startsWith('-') ? answer.line : ''
}
