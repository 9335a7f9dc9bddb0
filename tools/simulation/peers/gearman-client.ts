import type { Packet, RequestName } from '@crossgear/gearman-codec'
import { mayBeStored, type Submitted, type Word } from '../check/history.ts'
import { functions } from '../world/settings.ts'
import { GearmanPort } from './gearman-port.ts'
import { connect, type Peer } from './peer.ts'

export interface Kind {
  readonly name: RequestName
  readonly foreground: boolean
  readonly level: number
  /** Has a due time. */
  readonly isLater?: true
}

interface JobWords {
  readonly label: string
  readonly fn: string
  /** Empty for none. */
  readonly unique: string
  readonly dueAtMs?: number
}

const kinds: readonly Kind[] = [
  { name: 'SUBMIT_JOB', foreground: true, level: 5 },
  { name: 'SUBMIT_JOB', foreground: true, level: 5 },
  { name: 'SUBMIT_JOB_HIGH', foreground: true, level: 8 },
  { name: 'SUBMIT_JOB_LOW', foreground: true, level: 2 },
  { name: 'SUBMIT_JOB_BG', foreground: false, level: 5 },
  { name: 'SUBMIT_JOB_HIGH_BG', foreground: false, level: 8 },
  { name: 'SUBMIT_JOB_LOW_BG', foreground: false, level: 2 },
  { name: 'SUBMIT_JOB_EPOCH', foreground: false, level: 5, isLater: true },
]

const words: Partial<Record<Packet['name'], Word['kind']>> = {
  WORK_COMPLETE: 'complete',
  WORK_FAIL: 'fail',
  WORK_EXCEPTION: 'exception',
}

/** Submits jobs of all kinds, some at a time, and waits for those that it waits for. Sometimes it vanishes. */
export async function gearmanClient(
  peer: Peer,
  jobs: number,
  storeNowMs: () => number,
): Promise<void> {
  const { random, clock, history } = peer
  let submitted = 0
  while (submitted < jobs) {
    const port = await connect(peer, 'gearman', new GearmanPort())
    const client = new Client(peer, port)
    const done = client.listen()
    port.send('OPTION_REQ', 'exceptions')
    const some = Math.min(jobs - submitted, random.whole(1, 4))
    for (let one = 0; one < some; one += 1) {
      await clock.sleep(random.next() ** 3 * 400)
      submitted += 1
      client.submit(`${peer.name}-${submitted}`, storeNowMs())
    }
    if (peer.isWild() && random.percent(12)) {
      await clock.sleep(random.next() * 20)
      history.say(`${peer.name} vanishes`)
      port.vanish()
    }
    await done
    port.vanish()
  }
}

/** One connection of a client. */
export class Client {
  readonly #peer: Peer
  readonly #port: GearmanPort
  readonly #unanswered: Submitted[] = []
  readonly #waiting = new Map<string, Submitted[]>()
  #submitted = 0
  #answered = 0

  constructor(peer: Peer, port: GearmanPort) {
    this.#peer = peer
    this.#port = port
  }

  /** A job of any kind. */
  submit(label: string, storeNowMs: number): void {
    const { random, timeline } = this.#peer
    const kind = random.pick(kinds)
    const unique = random.percent(30) ? `u${random.whole(1, 3)}` : ''
    const fn = random.pick(functions)
    const delayMs = random.whole(1, 3) * 1_000
    // Due times are whole seconds: the next one after the delay.
    const dueSeconds = Math.ceil((storeNowMs + delayMs) / 1_000)
    const dueAtMs = timeline.nowMs + dueSeconds * 1_000 - storeNowMs
    this.#send(kind, { label, fn, unique, ...(kind.isLater && { dueAtMs }) }, dueSeconds)
    // The answer to ECHO_REQ comes at once, and still after those to all jobs before it.
    if (random.percent(15)) this.#port.send('ECHO_REQ', String(this.#submitted))
  }

  /** A job that is due at once, and is nobody else's. */
  submitPlain(label: string, fn: string, foreground: boolean): void {
    const name = foreground ? 'SUBMIT_JOB' : 'SUBMIT_JOB_BG'
    this.#send({ name, foreground, level: 5 }, { label, fn, unique: '' })
  }

  #send(
    { name, foreground, level, isLater }: Kind,
    { label, fn, unique, dueAtMs }: JobWords,
    dueSeconds = 0,
  ): void {
    const { history, name: by, timeline } = this.#peer
    this.#unanswered.push(
      history.submit({
        label,
        by,
        fn,
        door: 'gearman',
        foreground,
        level,
        submittedMs: timeline.nowMs,
        ...(unique && { unique }),
        ...(dueAtMs !== undefined && { dueAtMs }),
      }),
    )
    this.#port.send(name, fn, unique, ...(isLater ? [String(dueSeconds)] : []), label)
    this.#submitted += 1
  }

  /** Reads until nothing is owed any more, or the connection is over. */
  async listen(): Promise<void> {
    for (;;) {
      const packet = await this.#port.next()
      if (!packet) break
      this.#take(packet)
    }
    const { history, timeline } = this.#peer
    const left = [...this.#unanswered, ...[...this.#waiting.values()].flat()]
    for (const job of left) {
      job.isDeserted = true
      job.leftMs = timeline.nowMs
    }
    for (const job of this.#unanswered.splice(0)) history.answered(job, 'unknown', timeline.nowMs)
  }

  #take({ name, args }: Packet): void {
    const { history, timeline } = this.#peer
    const [handle = '', data = ''] = args.map(String)
    const kind = words[name]
    if (name === 'JOB_CREATED' || name === 'ERROR') this.#answered += 1
    if (name === 'JOB_CREATED') {
      const job = this.#unanswered.shift()
      if (!job) throw new Error('JOB_CREATED for nothing')
      job.ref = refIn(handle)
      history.answered(job, 'accepted', timeline.nowMs, handle)
      if (job.foreground) this.#waiting.set(handle, [...(this.#waiting.get(handle) ?? []), job])
    } else if (name === 'ERROR') {
      const job = this.#unanswered.shift()
      const isUnknown = mayBeStored(data)
      // The gateway waits for no outcome of it.
      if (job && isUnknown) job.isDeserted = true
      const answer = isUnknown ? 'unknown' : 'refused'
      if (job) history.answered(job, answer, timeline.nowMs, `${handle} ${data}`)
    } else if (name === 'WORK_DATA' || name === 'WORK_WARNING') {
      for (const job of this.#waiting.get(handle) ?? []) job.data.push(data)
    } else if (name === 'ECHO_RES') {
      if (Number(handle) > this.#answered) throw new Error('an answer has overtaken another')
    } else if (kind) {
      const jobs = this.#waiting.get(handle) ?? []
      const job = jobs.shift()
      if (!job) throw new Error(`${name} for ${handle}, which is not waited for`)
      history.word(job, { kind, data, atMs: timeline.nowMs })
      if (jobs.length === 0) this.#waiting.delete(handle)
    }
    const isOfJob = name !== 'OPTION_RES' && name !== 'ECHO_RES'
    if (isOfJob && this.#unanswered.length + this.#waiting.size === 0) this.#maybeDone()
  }

  /** Clients that have all their answers leave after a while. */
  #maybeDone(): void {
    const { clock, random } = this.#peer
    void clock.sleep(500 + random.next() * 500).then(() => {
      if (this.#unanswered.length + this.#waiting.size === 0 && !this.#port.isOver)
        this.#port.vanish()
    })
  }
}

/** A handle without its prefix, which each gateway has for itself. */
function refIn(handle: string): string {
  return handle.slice(handle.lastIndexOf(':') + 1)
}
