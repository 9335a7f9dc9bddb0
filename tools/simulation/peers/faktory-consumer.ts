import { labelIn, type Run } from '../check/history.ts'
import { queues, reserveForSeconds } from '../world/settings.ts'
import { FaktoryPort } from './faktory-port.ts'
import type { WorkerHabits } from './gearman-worker.ts'
import { connect, type Peer } from './peer.ts'

/** Interval of heartbeats, milliseconds; silent for 15 s, it would be dead. */
const beatEveryMs = 4_000

interface FaktoryJob {
  readonly jid: string
  readonly queue?: string
  readonly args: readonly unknown[]
}

/** Longest time without a connection after which a consumer goes on with its job, milliseconds; gone for 15 s, it would be dead. */
const maxAwayMs = 1_500

/** Fetches jobs, acknowledges or fails each, and sometimes vanishes in the middle, or is away for a moment. */
export async function faktoryConsumer(peer: Peer, { isReliable }: WorkerHabits): Promise<void> {
  const { random, clock, history } = peer
  for (let life = 1; ; life += 1) {
    await new Consumer(peer, life, isReliable).live()
    history.lostWorkersMs.push(peer.timeline.nowMs)
    history.say(`${peer.name} is disconnected`)
    await clock.sleep(100 + random.next() * 400)
  }
}

class Consumer {
  readonly #peer: Peer
  readonly #life: number
  readonly #wid: string
  readonly #isReliable: boolean
  readonly #queues: string
  #beatMs = 0
  #left: number
  #port = new FaktoryPort()

  constructor(peer: Peer, life: number, isReliable: boolean) {
    this.#peer = peer
    this.#life = life
    this.#wid = `${peer.name}-${life}`
    this.#isReliable = isReliable
    const { random } = peer
    const some = isReliable ? [...queues] : queues.filter(() => random.percent(75))
    this.#queues = (some.length === 0 ? ['default'] : some).join(' ')
    this.#left = isReliable ? Infinity : random.whole(2, 12)
  }

  /** Ends with its connection. */
  async live(): Promise<void> {
    if (await this.#connect()) await this.#work()
    this.#port.vanish()
  }

  async #connect(): Promise<boolean> {
    this.#port = await connect(this.#peer, 'faktory', new FaktoryPort())
    return this.#port.hello({ wid: this.#wid, hostname: 'here', pid: this.#life, labels: [] })
  }

  async #work(): Promise<void> {
    const { timeline } = this.#peer
    while (this.#left > 0) {
      this.#left -= 1
      if (timeline.nowMs - this.#beatMs > beatEveryMs) {
        this.#beatMs = timeline.nowMs
        await this.#port.ask('BEAT', { wid: this.#wid })
      }
      const answer = await this.#port.ask('FETCH', this.#queues)
      if (!answer) return
      if (typeof answer.body === 'string') await this.#do(JSON.parse(answer.body) as FaktoryJob)
      if (this.#port.isOver) return
    }
  }

  async #do({ jid, queue, args: [payload] }: FaktoryJob): Promise<void> {
    const { random, habits, clock, history, timeline, name, isWild } = this.#peer
    const run = history.begin(labelIn(String(payload)), name, timeline.nowMs, {
      limitMs: reserveForSeconds * 1000,
      ...(queue !== undefined && { queue }),
    })
    const isLong = random.percent(8) && !this.#isReliable
    await clock.sleep(isLong ? 3_000 : random.next() ** 3 * 150)
    if (isWild() && habits.percent(25) && !this.#port.isOver) await this.#beAway()
    if (this.#port.isOver) {
      history.end(run, 'vanished', timeline.nowMs)
      return
    }
    const chance = this.#isReliable ? 100 : random.next() * 100
    if (isWild() && chance < 10) {
      history.end(run, 'vanished', timeline.nowMs)
      this.#port.vanish()
    } else if (chance < 25) {
      await this.#settle(run, 'fail', 'FAIL', { jid, errtype: 'Broken', message: run.output })
    } else await this.#settle(run, 'complete', 'ACK', { jid })
  }

  /** As at a break of the network: the job goes on, and its worker comes back under its name. */
  async #beAway(): Promise<void> {
    const { habits, clock, history, name } = this.#peer
    history.say(`${name} is away`)
    this.#port.vanish()
    await clock.sleep(habits.whole(50, maxAwayMs))
    if (await this.#connect()) history.say(`${name} is back`)
    else this.#port.vanish()
  }

  async #settle(run: Run, end: 'complete' | 'fail', verb: string, argument: object): Promise<void> {
    const { history, timeline } = this.#peer
    history.end(run, end, timeline.nowMs)
    const answer = await this.#port.ask(verb, argument)
    // As stock workers do, it drops what was refused.
    const isUnknown = answer === undefined || answer.line.includes('store')
    if (answer?.line.includes('keeps it')) run.isKept = true
    history.settled(run, isUnknown ? 'unknown' : answer.line === '+OK' ? 'yes' : 'no')
  }
}
