import type { Observer } from '@crossgear/core-scheduler'
import { Random } from '@crossgear/tools/random'
import { History } from '../check/history.ts'
import { verdictOf } from '../check/verdict.ts'
import { faktoryConsumer } from '../peers/faktory-consumer.ts'
import { faktoryProducer } from '../peers/faktory-producer.ts'
import { gearmanClient } from '../peers/gearman-client.ts'
import { gearmanWorker } from '../peers/gearman-worker.ts'
import { lastClient } from '../peers/last-client.ts'
import { nativeClient, nativeWorker } from '../peers/native.ts'
import { operator } from '../peers/operator.ts'
import type { Peer } from '../peers/peer.ts'
import { ActorClock } from './actor-clock.ts'
import { makeChange } from './changes.ts'
import { injectFault } from './faults.ts'
import { Gateway } from './gateway.ts'
import { LongWait } from './long-wait.ts'
import { NativeLink } from './native-link.ts'
import type { PeerPlan, Plan } from './plan.ts'
import { reserveForSeconds, settingsOf, type Settings } from './settings.ts'
import type { OpenStore, SimStore } from './sim-store.ts'
import { noFaults, StoreLink } from './store-link.ts'
import { actorOf, Timeline } from './timeline.ts'

/** Most events of a world: more are a livelock. */
const maxEvents = 400_000
/** Most time for the rest, once faults are over, milliseconds. */
const restMs = 200_000

/** A job that is unfinished at so many looks more is stuck. */
const stuckLooks = 4
/** Between two of them, milliseconds. */
const lookEveryMs = 10_000

/** Until notes of workers that died are gone, milliseconds. */
const cleanMs = 80_000
/** Between two looks for them, milliseconds. */
const cleanLookMs = 2_000

/** One world in so many waits until gateways have ended the leases of workers that are gone: most events would be those of idle gateways. */
const waitsForLeases = 8

export interface WorldOptions {
  readonly openStore: OpenStore
  /** Takes the lines of the story. */
  readonly tell?: (line: string) => void
}

/** The end of a world. */
export interface WorldEnd {
  readonly history: History
  readonly problems: readonly string[]
  readonly events: number
  readonly endMs: number
}

/** A peer, or the client that comes once all work is done. */
interface Newcomer extends Omit<PeerPlan, 'kind'> {
  readonly kind: PeerPlan['kind'] | 'last client'
}

/** One world: gateways, peers, a store, and the faults of its plan. */
export class World {
  readonly plan: Plan
  readonly timeline = new Timeline()
  readonly gateways: Gateway[] = []
  readonly store: SimStore
  readonly natives: NativeLink
  readonly history: History
  readonly problems: string[] = []
  readonly settings: Settings
  readonly server = actorOf('store')
  readonly #fate = actorOf('world')
  readonly #tell: (line: string) => void
  #isWild = true
  #born = 0
  #busyPeers = 0

  constructor(plan: Plan, { openStore, tell }: WorldOptions) {
    this.plan = plan
    this.settings = settingsOf(plan)
    this.store = openStore(this.timeline, this.settings)
    this.natives = new NativeLink(this.store.native)
    this.#tell = tell
      ? (line) => tell(`${this.timeline.nowMs.toFixed(1).padStart(9)}  ${line}`)
      : () => undefined
    this.history = new History(this.#tell)
  }

  /** A random source of its own for each name, so that a smaller world draws the same. */
  random(name: string): Random {
    let mixed = this.plan.seed
    for (const char of name) mixed = (Math.imul(mixed, 31) + (char.codePointAt(0) ?? 0)) >>> 0
    return new Random(mixed)
  }

  say(line: string): void {
    this.#tell(line)
  }

  /** The store's clock steps, ahead or back. */
  stepClock(ms: number): void {
    this.say(`the store's clock steps by ${ms} ms`)
    this.history.clockSteps.push({ atMs: this.timeline.nowMs, ms })
    this.store.stepClock(ms)
  }

  /** Starts a gateway; its name is good for one life. */
  async addGateway(): Promise<Gateway> {
    this.#born += 1
    const name = `gateway${this.#born}`
    const random = this.random(name)
    const store = await this.store.join(name)
    const gateway = new Gateway(name, {
      timeline: this.timeline,
      random,
      settings: this.settings,
      observer: this.#observer(name),
      link: (actor) =>
        new StoreLink(
          { timeline: this.timeline, random, server: this.server },
          actor,
          store,
          (call) => this.#executed(call),
        ),
    })
    this.gateways.push(gateway)
    gateway.start().then(
      () => this.say(`${name} is open`),
      (error: unknown) => {
        if (gateway.actor.isGone) return
        this.say(`${name} cannot start: ${String(error)}`)
        gateway.crash()
        this.later(500, () => void this.addGateway())
      },
    )
    return gateway
  }

  /** Runs a task of nobody in the world. */
  later(ms: number, task: () => void): void {
    this.timeline.after(ms, this.#fate, task)
  }

  async run(): Promise<WorldEnd> {
    const { plan, timeline } = this
    for (let one = 0; one < plan.gateways; one += 1) await this.addGateway()
    for (const peer of plan.peers) this.#begin(peer)
    for (const fault of plan.faults) {
      this.later(fault.atMs, () => injectFault(this, fault))
    }
    for (const change of plan.changes) this.later(change.atMs, () => makeChange(this, change))
    await timeline.runUntil(plan.wildMs, () => this.#goesOn())
    await this.#settleDown()
    if (this.problems.length === 0)
      this.problems.push(...verdictOf(plan, this.history, timeline.nowMs))
    return {
      history: this.history,
      problems: this.problems,
      events: timeline.events,
      endMs: timeline.nowMs,
    }
  }

  /** Faults end; reliable workers do what is left. */
  async #settleDown(): Promise<void> {
    const { timeline } = this
    this.#isWild = false
    this.say('faults are over')
    for (const gateway of this.gateways) {
      gateway.link.faults = noFaults
    }
    const { faults, changes } = this.plan
    const faultsEndMs = Math.max(
      0,
      ...[...faults, ...changes].map(({ atMs, forMs }) => atMs + forMs),
    )
    await timeline.runUntil(Math.max(timeline.nowMs, faultsEndMs) + 200, () => this.#goesOn())
    if (!this.gateways.some(({ isOpen }) => isOpen)) await this.addGateway()
    this.history.reliableFromMs = timeline.nowMs
    this.#begin({ name: 'lastworker1', kind: 'gearman worker', jobs: 0 }, true)
    this.#begin({ name: 'lastconsumer1', kind: 'faktory consumer', jobs: 0 }, true)
    // An operator's last act may be among the lost writes.
    if (this.history.losses.length > 0)
      this.#begin({ name: 'lastoperator1', kind: 'operator', jobs: 0 })
    const endMs = timeline.nowMs + restMs
    const wait = new LongWait(this)
    while (timeline.nowMs < endMs && this.#goesOn()) {
      await timeline.runUntil(timeline.nowMs + 500, () => this.#goesOn())
      const left = await this.store.unfinished()
      if (this.#busyPeers > 0 || left.length > 0) wait.look(left)
      else if (this.history.calmFromMs < Infinity) break
      else this.#beginCalm()
    }
    for (const job of await this.store.unfinished()) this.say(`still there: ${job}`)
    // Last words arrive.
    await timeline.runUntil(timeline.nowMs + 500, () => this.#goesOn())
    let left = await this.store.unfinished()
    if (left.length === 0) return this.#checkEmpty()
    // A tick of a cron entry may just have come, or failed some times.
    for (let look = 1; look <= stuckLooks && left.length > 0; look += 1) {
      await timeline.runUntil(timeline.nowMs + lookEveryMs, () => this.#goesOn())
      const now = new Set(await this.store.unfinished())
      left = left.filter((job) => now.has(job))
    }
    for (const job of left) this.problems.push(`never ends: ${job}`)
  }

  #beginCalm(): void {
    this.history.calmFromMs = this.timeline.nowMs
    this.say('all work is done')
    this.#begin({ name: 'lastclient1', kind: 'last client', jobs: 1 })
  }

  /** Nothing has stayed behind, and counters are right. */
  async #checkEmpty(): Promise<void> {
    if (this.plan.hasCron || (await this.#leftovers()).length === 0) return
    // Notes of dead workers go with them.
    const endMs = this.timeline.nowMs + cleanMs
    let left: readonly string[]
    do {
      await this.timeline.runUntil(this.timeline.nowMs + cleanLookMs, () => this.#goesOn())
      left = await this.#leftovers()
    } while (left.length > 0 && this.timeline.nowMs < endMs && this.#goesOn())
    this.problems.push(...left)
  }

  async #leftovers(): Promise<readonly string[]> {
    const alive = this.gateways.filter(({ actor }) => !actor.isGone)
    const workers = new Map(alive.map((gateway) => [gateway.actor.name, gateway.workers]))
    const counted = alive.filter(({ scheduler: { running } }) => running > 0)
    const running = counted.reduce((sum, { scheduler }) => sum + scheduler.running, 0)
    const all = [
      ...(await this.store.leftovers(workers)),
      ...counted
        .filter(() => running > this.#leasesWithoutWorker())
        .map(({ actor, scheduler }) => `${actor.name} counts ${scheduler.running} running jobs`),
    ]
    const { hasFlushed, losses } = this.history
    const isExcused = (one: string): boolean =>
      // Ends in native workers are counted when a gateway sees them: perhaps after FLUSH has reset the counters.
      (hasFlushed && one.includes('jobs came')) ||
      // Nobody can know that a native worker has left, where the store has lost it.
      (losses.length > 0 && one.includes(': count says'))
    const hasNative = this.plan.peers.some(({ kind }) => kind === 'native worker')
    return hasNative ? all.filter((one) => !isExcused(one)) : all
  }

  /** Leases that gateways may still count: a consumer had at most one when it left, and its time is not over. */
  #leasesWithoutWorker(): number {
    if (this.plan.seed % waitsForLeases === 0) return 0
    const { calmFromMs, lostWorkersMs } = this.history
    const sinceMs = this.timeline.nowMs - reserveForSeconds * 1_000
    return lostWorkersMs.filter((atMs) => atMs > sinceMs && atMs < calmFromMs).length
  }

  #goesOn(): boolean {
    if (this.timeline.events > maxEvents && this.problems.length === 0) {
      this.problems.push(`a livelock: more than ${maxEvents} events`)
      return false
    }
    return this.problems.length === 0
  }

  #executed(call: string): void {
    // A gateway has learnt of the restart: native programs get no lost ids any more.
    if (call === 'lanes.skipLostIds') this.natives.mend()
    if (this.store.isCheckDue()) this.timeline.hold(() => this.#check())
  }

  async #check(): Promise<void> {
    for (const violation of await this.store.violations()) this.problems.push(violation)
  }

  #begin({ name, kind, jobs }: Newcomer, isReliable = false): void {
    const random = this.random(name)
    const actor = actorOf(name)
    const { timeline, history, gateways } = this
    const clock = new ActorClock(timeline, actor, random)
    const peer: Peer = {
      name,
      actor,
      timeline,
      random,
      habits: this.random(`${name} habits`),
      clock,
      history,
      gateways,
      isWild: () => this.#isWild,
    }
    const storeNowMs = (): number => this.store.nowMs()
    const native = this.natives.connect()
    const lives = {
      'gearman client': () => gearmanClient(peer, jobs, storeNowMs),
      'faktory producer': () => faktoryProducer(peer, jobs, storeNowMs),
      'gearman worker': () => gearmanWorker(peer, { isReliable }),
      'faktory consumer': () => faktoryConsumer(peer, { isReliable }),
      'native client': () => nativeClient(peer, native, jobs),
      'native worker': () => nativeWorker(peer, native),
      operator: () => operator(peer, jobs),
      'last client': () => lastClient(peer),
    }
    const endsByItself = jobs > 0 || kind === 'native worker' || kind === 'operator'
    if (endsByItself) this.#busyPeers += 1
    lives[kind]().then(
      () => {
        this.#busyPeers -= 1
      },
      (error: unknown) =>
        this.problems.push(
          `${name}: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`,
        ),
    )
  }

  #observer(name: string): Observer {
    const nothing = (): void => undefined
    return {
      submitted: nothing,
      assigned: nothing,
      ended: nothing,
      acted: nothing,
      unconfirmed: nothing,
      bridged: nothing,
      stranded: nothing,
      turnShared: () => undefined,
      outcomesKept: () => undefined,
      dropped: ({ lane, how }) => {
        const [fn = lane] = lane.split('@')
        if (how === 'expired') this.history.drops.push({ fn, atMs: this.timeline.nowMs })
      },
      store: (up, reason) =>
        this.say(`${name} sees the store ${up ? 'again' : `no more: ${reason ?? ''}`}`),
      reclaimed: (dead, { requeued, dropped }) =>
        this.say(`${name} reclaims ${dead}: ${requeued} requeued, ${dropped} dropped`),
      forgotten: ({ held, lost }) => this.say(`${name} was forgotten, and lost ${lost} of ${held}`),
      repaired: (repair, done) =>
        this.say(
          `${name} ${done ? 'repairs' : 'finds'} ${repair.kind} ${repair.lane}:${repair.id}`,
        ),
      error: (task, error) =>
        this.say(
          `${name}: ${task} failed: ${error instanceof Error ? error.message : String(error)}`,
        ),
    }
  }
}
