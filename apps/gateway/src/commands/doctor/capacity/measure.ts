import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { cpus } from 'node:os'
import { setTimeout as delay } from 'node:timers/promises'
import { FaktoryConnection } from '@crossgear/peers'
import { type Load, startLoad } from './loads.ts'
import type { MeasuredGateway, Spent } from './measured-gateway.ts'
import {
  type ByKind,
  type Cost,
  costOf,
  type JobCost,
  type JobKind,
  jobKinds,
  type Line,
  lineThrough,
  type Terms,
} from './model.ts'

/** Payloads from which the figures come, bytes. */
const fewBytes = 100
const manyBytes = 10_000
/** Looks at each load, in turn with the others: a moment in which the machine is slow spoils one of them alone. */
const rounds = 3
/** Time for caches before each measurement, milliseconds. */
const warmUpMs = 500
/** Jobs that wait, by the length of their payloads. */
const waitingJobs = { [fewBytes]: 5_000, [manyBytes]: 1_000 } as const
const pushers = 10
const idleConnections = 500

/** Loads that the figures are checked with: none is one that they come from. */
export const checkLoads: readonly (readonly Load[])[] = [
  [{ kind: 'faktory', bytes: 4_000 }],
  [{ kind: 'foreground', bytes: 2_000 }],
  [
    { kind: 'faktory', bytes: 1_000 },
    { kind: 'background', bytes: 5_000 },
  ],
]

/** A load that was not measured before: its cost by the model, and in truth. */
export interface Check {
  readonly loads: readonly Load[]
  /** Jobs done in a second. */
  readonly jobsPerSecond: number
  /** Processor time of gateway and Redis a job, microseconds. */
  readonly predictedUs: number
  readonly measuredUs: number
}

export interface Measured {
  readonly terms: Terms
  readonly checks: readonly Check[]
  /** Cores that other programs kept busy meanwhile. */
  readonly otherCores: number
}

/** The cost of loads that ran at the same time, and the jobs of each that were done. */
interface Share {
  readonly spent: Spent
  readonly done: readonly number[]
  readonly seconds: number
}

/** Measures all terms, and checks them; `seconds`: of each load. */
export class Measurement {
  readonly #gateway: MeasuredGateway
  readonly #seconds: number
  #names = 0

  constructor(gateway: MeasuredGateway, seconds: number) {
    this.#gateway = gateway
    this.#seconds = seconds
  }

  /** `progress` hears of each part before it begins. */
  async run(progress: (part: string) => void): Promise<Measured> {
    const startedMs = performance.now()
    const [busyBeforeUs, ownBeforeUs] = [busyUs(), ownUs()]
    const before = await this.#gateway.spent()
    progress('warming up')
    const loads = [fewBytes, manyBytes].flatMap((bytes) => {
      return jobKinds.map((kind) => ({ kind, bytes }))
    })
    await this.#under(loads, loads.length * this.#seconds)
    const terms = await this.#terms(progress)
    progress('checks')
    const checks: Check[] = []
    for (const loads of checkLoads) checks.push(await this.#check(terms, loads))
    const { gatewayUs, redisUs } = spentBetween(before, await this.#gateway.spent())
    const ours = gatewayUs + redisUs + ownUs() - ownBeforeUs
    const seconds = (performance.now() - startedMs) / 1_000
    const otherCores = (busyUs() - busyBeforeUs - ours) / seconds / 1_000_000
    return { terms, checks, otherCores: Math.max(0, otherCores) }
  }

  async #terms(progress: (part: string) => void): Promise<Terms> {
    progress('at rest')
    const restUs = await this.#rest()
    const few: Costs = { faktory: [], foreground: [], background: [] }
    const many: Costs = { faktory: [], foreground: [], background: [] }
    for (let round = 1; round <= rounds; round += 1) {
      for (const kind of jobKinds) {
        progress(`${kind}, round ${round} of ${rounds}`)
        few[kind].push(await this.#perJob({ kind, bytes: fewBytes }))
        many[kind].push(await this.#perJob({ kind, bytes: manyBytes }))
      }
    }
    const jobs = {} as Record<JobKind, JobCost>
    for (const kind of jobKinds) jobs[kind] = jobCost(few[kind], many[kind])
    progress('memory')
    const waitingBytes = await this.#waiting()
    const connectionBytes = await this.#connections()
    return { jobs, waitingBytes, connectionBytes, restUs }
  }

  async #perJob(load: Load): Promise<Cost> {
    const { spent, done } = await this.#under([load])
    const jobs = Math.max(1, done[0] ?? 0)
    return {
      gatewayUs: spent.gatewayUs / jobs,
      redisUs: spent.redisUs / jobs,
      traffic: spent.traffic / jobs,
    }
  }

  async #check(terms: Terms, loads: readonly Load[]): Promise<Check> {
    const { spent, done, seconds } = await this.#under(loads)
    const jobs = done.reduce((sum, some) => sum + some, 0)
    const predicted = loads.reduce((sum, { kind, bytes }, at) => {
      const { gatewayUs, redisUs } = costOf(terms, kind, bytes)
      return sum + (done[at] ?? 0) * (gatewayUs + redisUs)
    }, 0)
    return {
      loads,
      jobsPerSecond: jobs / seconds,
      predictedUs: predicted / jobs,
      measuredUs: (spent.gatewayUs + spent.redisUs) / jobs,
    }
  }

  /** Runs loads at the same time. */
  async #under(loads: readonly Load[], forSeconds = this.#seconds): Promise<Share> {
    const started = await Promise.all(
      loads.map((load) => startLoad(this.#gateway.ports, load, this.#nextName())),
    )
    try {
      await delay(warmUpMs)
      const jobs = started.map(({ done }) => ({ done, before: done() }))
      const startedMs = performance.now()
      const spent = await this.#spentIn(() => delay(1_000 * forSeconds))
      const seconds = (performance.now() - startedMs) / 1_000
      return { spent, done: jobs.map(({ done, before }) => done() - before), seconds }
    } finally {
      await Promise.all(started.map(({ stop }) => stop()))
    }
  }

  async #rest(): Promise<number> {
    await delay(warmUpMs)
    const { gatewayUs, redisUs } = await this.#spentIn(() => delay(1_000 * this.#seconds))
    return (gatewayUs + redisUs) / this.#seconds
  }

  async #waiting(): Promise<Line> {
    const few = await this.#bytesPerWaiting(fewBytes)
    const many = await this.#bytesPerWaiting(manyBytes)
    return lineThrough([fewBytes, few], [manyBytes, many])
  }

  async #bytesPerWaiting(bytes: keyof typeof waitingJobs): Promise<number> {
    const name = this.#nextName()
    const args = ['x'.repeat(bytes)]
    const each = waitingJobs[bytes] / pushers
    const push = async (at: number): Promise<void> => {
      const connection = await FaktoryConnection.open({ port: this.#gateway.ports.faktory })
      for (let count = 0; count < each; count += 1) {
        const jid = `${name}-${at}-${count}`
        await connection.ask('PUSH', { jid, jobtype: name, queue: name, args })
      }
      await connection.end()
    }
    const { redisBytes } = await this.#spentIn(() =>
      Promise.all(Array.from({ length: pushers }, (_, at) => push(at))),
    )
    return redisBytes / waitingJobs[bytes]
  }

  async #connections(): Promise<number> {
    const sockets: Socket[] = []
    try {
      const { heapBytes } = await this.#spentIn(async () => {
        for (let count = 0; count < idleConnections; count += 1) {
          const socket = connect(this.#gateway.ports.gearman, '127.0.0.1')
          sockets.push(socket)
          await once(socket, 'connect')
        }
        await delay(warmUpMs)
      })
      return heapBytes / idleConnections
    } finally {
      for (const socket of sockets) socket.destroy()
    }
  }

  async #spentIn(run: () => Promise<unknown>): Promise<Spent> {
    const before = await this.#gateway.spent()
    await run()
    return spentBetween(before, await this.#gateway.spent())
  }

  #nextName(): string {
    this.#names += 1
    return `capacity-${this.#names}`
  }
}

/** Processor time of all programs of this machine so far, microseconds. */
function busyUs(): number {
  return cpus().reduce((sum, { times }) => {
    return sum + 1_000 * (times.user + times.nice + times.sys + times.irq)
  }, 0)
}

/** Processor time of this process so far, microseconds. */
function ownUs(): number {
  const { user, system } = process.cpuUsage()
  return user + system
}

function spentBetween(before: Spent, after: Spent): Spent {
  return {
    gatewayUs: after.gatewayUs - before.gatewayUs,
    redisUs: after.redisUs - before.redisUs,
    traffic: after.traffic - before.traffic,
    heapBytes: after.heapBytes - before.heapBytes,
    redisBytes: after.redisBytes - before.redisBytes,
  }
}

type Costs = ByKind<Cost[]>

/** The line of each figure through its medians. */
function jobCost(few: readonly Cost[], many: readonly Cost[]): JobCost {
  const line = (of: keyof Cost): Line =>
    lineThrough([fewBytes, median(few, of)], [manyBytes, median(many, of)])
  return { gatewayUs: line('gatewayUs'), redisUs: line('redisUs'), traffic: line('traffic') }
}

function median(costs: readonly Cost[], of: keyof Cost): number {
  const sorted = costs.map((cost) => cost[of]).toSorted((one, other) => one - other)
  return sorted[Math.floor(sorted.length / 2)] ?? 0
}
