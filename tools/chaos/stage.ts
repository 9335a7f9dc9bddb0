import { appendFileSync, readdirSync, readFileSync } from 'node:fs'
import { availableParallelism, loadavg } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import type { Fault } from './check/faults.ts'
import { nowMs } from './log/clock.ts'
import { historyOf, type History } from './log/histories.ts'
import { parseLog } from './log/records.ts'
import type { DoorName, WorkerTask } from './peers/tasks.ts'
import type { Random } from '@crossgear/tools/random'
import type { RedisServer } from '@crossgear/tools/redis-server'
import type { Gateway } from './world/gateway.ts'
import { startWorker, type PeerProcess } from './world/peers.ts'
import { probeKey, serving } from './world/probe.ts'
import type { Proxy } from './world/proxy.ts'
import type { StoreWorld } from './world/redis.ts'

const lookEveryMs = 50
/** Start of a gateway from source, on an idle machine with two cores. */
const usualStartSeconds = 1.5
/** Time without service after which a fault counts as not recovered, milliseconds. */
const servedWithinMs = 90_000

export interface StageParts {
  readonly folder: string
  readonly random: Random
  readonly jobs: number
  readonly ratePerSecond: number
  readonly store: StoreWorld
  readonly servers: readonly RedisServer[]
  readonly gateways: readonly Gateway[]
  readonly clients: readonly PeerProcess[]
  readonly workers: readonly PeerProcess[]
  readonly links: Links
  /** Start time of the gateways, seconds. */
  readonly startSeconds: number
}

/** The proxies of a scenario, if any. */
export interface Links {
  /** Proxies before a gateway's doors, by its name. */
  readonly peers: ReadonlyMap<string, readonly Proxy[]>
  /** Between the gateways and the store. */
  readonly store: Proxy | undefined
}

/** A scenario's world while jobs run, and the faults it can cause. */
export class Stage {
  readonly folder: string
  readonly random: Random
  readonly gateways: readonly Gateway[]
  readonly servers: readonly RedisServer[]
  readonly store: StoreWorld
  readonly clients: readonly PeerProcess[]
  readonly links: Links
  readonly faults: Fault[] = []
  /** Longest time without service after a transient fault, seconds. */
  recoverySeconds: number | undefined
  readonly startSlowness: number
  /** Faults on the way, one line each. */
  readonly problems: string[] = []
  /** Remarks beside the table, one line each. */
  readonly remarks: string[] = []
  /** Native workers that died without leaving the counts. */
  nativeDeaths = 0
  gatewayDeaths = 0
  /** Probe jobs that a gateway may have taken. */
  probes = 0
  readonly jobs: number
  /** Jobs of all clients together. */
  readonly ratePerSecond: number
  readonly #workers: PeerProcess[] = []
  readonly #workerGenerations = new Map<string, number>()
  #isOver = false

  constructor(parts: StageParts) {
    this.folder = parts.folder
    this.random = parts.random
    this.gateways = parts.gateways
    this.servers = parts.servers
    this.store = parts.store
    this.clients = parts.clients
    this.links = parts.links
    this.startSlowness = parts.startSeconds / usualStartSeconds
    this.jobs = parts.jobs
    this.ratePerSecond = parts.ratePerSecond
    for (const worker of parts.workers) this.#mind(worker)
  }

  /** Slowness of the machine against an idle one, by its start time and load. */
  get slowness(): number {
    return Math.max(1, this.startSlowness, loadavg()[0]! / availableParallelism())
  }

  get workers(): readonly PeerProcess[] {
    return this.#workers.filter((worker) => !worker.process.hasExited)
  }

  get acknowledged(): number {
    return this.clients.reduce((sum, client) => sum + client.acknowledged, 0)
  }

  /** Waits until this share of the jobs is acknowledged. */
  async share(part: number): Promise<void> {
    const done = this.clientsDone().then(() => true)
    while (this.acknowledged < this.jobs * part) {
      if (await Promise.race([done, delay(lookEveryMs, false)])) return
    }
  }

  async clientsDone(): Promise<void> {
    await Promise.all(this.clients.map((client) => client.done))
  }

  /** Applies a fault to a subject, `times` over; the fault ends when `act` does. */
  async fault(
    what: string,
    subject: string,
    act: () => Promise<unknown>,
    times = 1,
  ): Promise<void> {
    const fromMs = nowMs()
    this.remark(`${what}: ${subject}`)
    await act()
    this.note({ what, subject, fromMs, toMs: nowMs(), times })
  }

  note(fault: Fault): void {
    this.faults.push(fault)
    this.remark(`${fault.what}: ${fault.subject}, over`)
  }

  /** Logs an action, for readers of the logs. */
  remark(what: string): void {
    appendFileSync(join(this.folder, 'events.log'), `${nowMs()} ${what}\n`)
  }

  /** Waits until a gateway serves, and keeps the time since `sinceMs`. */
  async recovered(gateway: Gateway, sinceMs: number): Promise<void> {
    const atMs = await serving(gateway.gearman, servedWithinMs, () => (this.probes += 1))
    if (atMs === undefined) this.problems.push(`${gateway.node} does not serve again`)
    const seconds = ((atMs ?? nowMs()) - sinceMs) / 1000
    this.recoverySeconds = Math.max(this.recoverySeconds ?? 0, seconds)
  }

  /** Kills a worker. Another takes its place. */
  async killWorker(worker: PeerProcess): Promise<void> {
    await worker.process.kill()
  }

  workersOf(door: DoorName): readonly PeerProcess[] {
    return this.workers.filter(({ task }) => task.door === door)
  }

  /** Stops workers gracefully, without replacement. */
  async stopWorkers(): Promise<void> {
    this.#isOver = true
    await Promise.all(this.workers.map((worker) => worker.stop()))
  }

  /** Kills everything that is left. */
  async clear(): Promise<void> {
    this.#isOver = true
    const peers = [...this.#workers, ...this.clients].map(({ process }) => process)
    const gateways = this.gateways.map((gateway) => gateway.process)
    await Promise.all([...peers, ...gateways].map((one) => one.kill()))
    for (const proxies of this.links.peers.values()) for (const proxy of proxies) proxy.close()
    this.links.store?.close()
    await this.store.stop()
  }

  /** The logs so far. */
  history(): History {
    const logs = new Map(
      readdirSync(this.folder)
        .filter((file) => file.endsWith('.jobs'))
        .map((file) => [
          file.slice(0, -'.jobs'.length),
          parseLog(readFileSync(join(this.folder, file), 'latin1')).filter(
            ({ key }) => key !== probeKey,
          ),
        ]),
    )
    return historyOf(logs)
  }

  /** Notes and replaces a worker that dies. */
  #mind(worker: PeerProcess): void {
    this.#workers.push(worker)
    void worker.process.exited.then(() => {
      if (this.#isOver) return
      const atMs = nowMs()
      this.note({ what: 'worker died', subject: worker.name, fromMs: atMs, toMs: atMs })
      const task = worker.task as WorkerTask
      if (task.door === 'native') this.nativeDeaths += 1
      const family = task.name.replace(/-\d+$/, '')
      const generation = (this.#workerGenerations.get(family) ?? 1) + 1
      this.#workerGenerations.set(family, generation)
      const name = `${family}-${generation}`
      this.#mind(startWorker(this.folder, { ...task, name, seed: task.seed + generation }))
    })
  }
}
