import { type Clock, FifoMap } from '@crossgear/core-scheduler'
import { systemClock } from './clock.ts'

/** Requests that a connection may send before it has to take turns. A client with 100 under way stays below it. */
export const requestsPerTurn = 128
/** Bytes of unfinished requests, and of a half-arrived one, with which a connection has to take turns. */
export const bytesPerTurn = 256 * 1024
/** Requests of one connection before the next one has its share. */
const requestsPerShare = 16

/** Requests of all that take turns in one turn of the event loop, and items that may wait for the store then. */
interface Pace {
  readonly requests: number
  readonly waiting: number
}

/**
 * While others are served they wait for a step or two with each request, so steps are to be short: under 4 connections
 * that flood with SUBMIT_JOB_BG their p50 is 1.7 times that without, where the other pace makes it 24 times.
 */
export const withOthers: Pace = { requests: requestsPerShare, waiting: requestsPerShare }
/** The same flood with nobody else costs 16 us a job, and 26 at the pace with others. */
const alone: Pace = { requests: requestsPerTurn, waiting: 2 * requestsPerTurn }
/** Turns for which others count as served after their last request. */
const othersStayTurns = 100

/** Something with requests that wait for their turn: a connection, or one long request. */
export interface WorkSource {
  /** Does up to about `max` requests; returns true if there are more. */
  work(max: number): boolean
}

/** Defaults at the end of each line. */
export interface RoundRobinParts {
  /** For the turns of the event loop. The process's own. */
  readonly clock?: Pick<Clock, 'endOfTurn'>
  /** Calls back, now or later, when fewer items wait for the store. Now. */
  readonly whenRoom?: (items: number, task: () => void) => void
  /** By whether others are served. */
  readonly pace?: Pace
}

/**
 * Lets connections that send many requests take turns: in each turn of the event loop they do a few, and between
 * turns all others are served at once. Nothing goes on while enough waits for the store, so that others do not wait behind.
 */
export class RoundRobin {
  readonly #clock: Pick<Clock, 'endOfTurn'>
  readonly #whenRoom: (items: number, task: () => void) => void
  /** In the order of their turns. */
  readonly #line = new FifoMap<WorkSource, true>()
  readonly #fixedPace: Pace | undefined
  readonly #turn = (): void => this.#takeTurn()
  readonly #roomComes = (): void => this.#clock.endOfTurn(this.#turn)
  #isArmed = false
  /** Turns for which others count as served still. */
  #othersLeft = 0

  constructor({
    clock = systemClock,
    whenRoom = (_items, task) => task(),
    pace,
  }: RoundRobinParts = {}) {
    this.#clock = clock
    this.#whenRoom = whenRoom
    this.#fixedPace = pace
  }

  /** A connection that takes no turns is served. */
  otherServed(): void {
    this.#othersLeft = othersStayTurns
  }

  /** Adds a source at the end of the line, until it has nothing more. */
  add(source: WorkSource): void {
    if (!this.#line.has(source)) this.#line.set(source, true)
    this.#arm()
  }

  remove(source: WorkSource): void {
    this.#line.delete(source)
  }

  get #pace(): Pace {
    return this.#fixedPace ?? (this.#othersLeft > 0 ? withOthers : alone)
  }

  #arm(): void {
    if (this.#isArmed) return
    this.#isArmed = true
    this.#whenRoom(this.#pace.waiting, this.#roomComes)
  }

  #takeTurn(): void {
    const { requests } = this.#pace
    if (this.#othersLeft > 0) this.#othersLeft -= 1
    for (let left = requests; left > 0; left -= requestsPerShare) {
      const first = this.#line.oldest()?.key
      if (!first) break
      this.#line.delete(first)
      if (first.work(requestsPerShare)) this.#line.set(first, true)
    }
    this.#isArmed = false
    if (this.#line.size > 0) this.#arm()
  }
}
