import type { Packet } from '@crossgear/gearman-codec'
import { labelIn, type Run } from '../check/history.ts'
import { functions } from '../world/settings.ts'
import { GearmanPort } from './gearman-port.ts'
import { connect, type Peer } from './peer.ts'

/** Time limit of CAN_DO_TIMEOUT, milliseconds. */
const timeoutMs = 2_000

export interface WorkerHabits {
  /** The worker completes every job. */
  readonly isReliable: boolean
}

/** Grabs jobs, sleeps when there is none, reports, ends each, and sometimes vanishes in the middle. */
export async function gearmanWorker(peer: Peer, { isReliable }: WorkerHabits): Promise<void> {
  const { random, clock, history } = peer
  for (;;) {
    const port = await connect(peer, 'gearman', new GearmanPort())
    const some = functions.filter(() => isReliable || random.percent(70))
    const names = some.length === 0 ? ([functions[0]] as const) : some
    const isTimed = !isReliable && random.percent(30)
    for (const fn of names) {
      if (isTimed) port.send('CAN_DO_TIMEOUT', fn, String(timeoutMs))
      else port.send('CAN_DO', fn)
      // Named twice, it still counts as one worker.
      if (isReliable) port.send('CAN_DO', fn)
    }
    await new Worker(peer, port, isReliable, isTimed ? timeoutMs : undefined).work()
    history.lostWorkersMs.push(peer.timeline.nowMs)
    history.say(`${peer.name} is disconnected`)
    await clock.sleep(100 + random.next() * 400)
  }
}

class Worker {
  readonly #peer: Peer
  readonly #port: GearmanPort
  readonly #isReliable: boolean
  readonly #limitMs: number | undefined
  #last: Run | undefined
  /** Jobs until it connects anew. */
  #left: number

  constructor(peer: Peer, port: GearmanPort, isReliable: boolean, limitMs: number | undefined) {
    this.#peer = peer
    this.#port = port
    this.#isReliable = isReliable
    this.#limitMs = limitMs
    this.#left = isReliable ? Infinity : peer.random.whole(1, 8)
  }

  async work(): Promise<void> {
    const port = this.#port
    port.send('GRAB_JOB_UNIQ')
    for (;;) {
      const packet = await port.next()
      if (!packet) return
      if (packet.name === 'ERROR' && this.#last) this.#last.hasError = true
      else if (packet.name === 'NO_JOB') port.send('PRE_SLEEP')
      else if (packet.name === 'NOOP') port.send('GRAB_JOB_UNIQ')
      else if (packet.name === 'JOB_ASSIGN_UNIQ') {
        await this.#do(packet)
        this.#left -= 1
        if (port.isOver) return
        if (this.#left <= 0) {
          await this.#peer.clock.sleep(20)
          port.vanish()
          return
        }
      }
    }
  }

  async #do({ args }: Packet): Promise<void> {
    const { random, clock, history, timeline, name } = this.#peer
    const [handle = '', , , payload = ''] = args.map(String)
    const limitMs = this.#limitMs
    const run = history.begin(labelIn(payload), name, timeline.nowMs, {
      ...(limitMs !== undefined && { limitMs }),
    })
    this.#last = run
    const workMs = random.percent(8) && !this.#isReliable ? 3_000 : random.next() ** 3 * 150
    if (random.percent(25)) this.#report(run, handle)
    await clock.sleep(workMs)
    if (this.#port.isOver) {
      history.end(run, 'vanished', timeline.nowMs)
      return
    }
    if (random.percent(15)) this.#report(run, handle)
    this.#end(run, handle)
  }

  #report(run: Run, handle: string): void {
    const data = `part${run.data.length}-${run.label}-${run.number}`
    run.data.push(data)
    this.#port.send('WORK_DATA', handle, data)
    this.#port.send('WORK_STATUS', handle, '1', '2')
  }

  #end(run: Run, handle: string): void {
    const { random, history, timeline, isWild } = this.#peer
    const port = this.#port
    const chance = this.#isReliable ? 100 : random.next() * 100
    if (isWild() && chance < 10) {
      history.end(run, 'vanished', timeline.nowMs)
      port.vanish()
      return
    }
    if (chance < 18) {
      history.end(run, 'fail', timeline.nowMs)
      port.send('WORK_FAIL', handle)
    } else if (chance < 22) {
      history.end(run, 'exception', timeline.nowMs)
      port.send('WORK_EXCEPTION', handle, run.output)
    } else {
      history.end(run, 'complete', timeline.nowMs)
      port.send('WORK_COMPLETE', handle, run.output)
    }
    port.send('GRAB_JOB_UNIQ')
  }
}
