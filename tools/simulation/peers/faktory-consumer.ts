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

/** Fetches jobs, acknowledges or fails each, and sometimes vanishes in the middle. */
export async function faktoryConsumer(peer: Peer, { isReliable }: WorkerHabits): Promise<void> {
  const { random, clock, history } = peer
  for (let life = 1; ; life += 1) {
    const port = await connect(peer, 'faktory', new FaktoryPort())
    const wid = `${peer.name}-${life}`
    if (await port.hello({ wid, hostname: 'here', pid: life, labels: [] })) {
      await new Consumer(peer, port, wid, isReliable).work()
    }
    port.vanish()
    history.lostWorkersMs.push(peer.timeline.nowMs)
    history.say(`${peer.name} is disconnected`)
    await clock.sleep(100 + random.next() * 400)
  }
}

class Consumer {
  readonly #peer: Peer
  readonly #port: FaktoryPort
  readonly #wid: string
  readonly #isReliable: boolean
  readonly #queues: string
  #beatMs = 0
  #left: number

  constructor(peer: Peer, port: FaktoryPort, wid: string, isReliable: boolean) {
    this.#peer = peer
    this.#port = port
    this.#wid = wid
    this.#isReliable = isReliable
    const { random } = peer
    const some = isReliable ? [...queues] : queues.filter(() => random.percent(75))
    this.#queues = (some.length === 0 ? ['default'] : some).join(' ')
    this.#left = isReliable ? Infinity : random.whole(2, 12)
  }

  async work(): Promise<void> {
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
    const { random, clock, history, timeline, name, isWild } = this.#peer
    const run = history.begin(labelIn(String(payload)), name, timeline.nowMs, {
      limitMs: reserveForSeconds * 1000,
      ...(queue !== undefined && { queue }),
    })
    const isLong = random.percent(8) && !this.#isReliable
    await clock.sleep(isLong ? 3_000 : random.next() ** 3 * 150)
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

  async #settle(run: Run, end: 'complete' | 'fail', verb: string, argument: object): Promise<void> {
    const { history, timeline } = this.#peer
    history.end(run, end, timeline.nowMs)
    const answer = await this.#port.ask(verb, argument)
    const isUnknown = answer === undefined || answer.line.includes('store')
    history.settled(run, isUnknown ? 'unknown' : answer.line === '+OK' ? 'yes' : 'no')
  }
}
