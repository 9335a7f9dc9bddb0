import type { PacketName } from '@crossgear/gearman-codec'
import type { GearmandVersion } from '../../../src/doors/gearman/gearmand-version.ts'

/**
 * An argument of a packet, or bytes as text of one byte per character. `H#1` in a text stands for
 * the first handle that the case has seen, `H#2` for the second; `now+2` for the seconds since 1970,
 * two from now.
 */
export type Bytes = string | Buffer

type Arguments = readonly Bytes[]

/** Written as it stands; the handles in it are filled in. */
export type Request = readonly [name: PacketName, ...args: Arguments]

/** One step of a case. It is over when all that follows from it has arrived. */
export type Step =
  /** A request; the connection is opened where it is named first. */
  | readonly [connection: string, name: PacketName, ...args: Arguments]
  /** A packet with the magic of a server. */
  | readonly [connection: string, as: 'as server', name: PacketName, ...args: Arguments]
  /** A line of text; LF is added. */
  | readonly [connection: string, as: 'text', line: string]
  /** Bytes that end with a packet or a line, or end the connection. */
  | readonly [connection: string, as: 'raw', bytes: Bytes]
  /** Bytes that more must follow: the connection is not asked for an echo until it says more. */
  | readonly [connection: string, as: 'part', bytes: Bytes]
  /** Requests in one write. */
  | readonly [connection: string, as: 'at once', ...requests: readonly Request[]]
  /** A request, one write for each byte. */
  | readonly [connection: string, as: 'byte by byte', ...request: Request]
  /** The connection is closed. */
  | readonly [connection: string, as: 'close']
  /** The connection is opened and says nothing. */
  | readonly [connection: string, as: 'open']
  /** Waits for what a clock of the server brings. */
  | readonly [connection: string, as: 'hears something']

/** Options of gearmand's command line, and the door's in their place. */
export interface Flags {
  /** `-j N`. */
  readonly retries?: number
  /** `-R`. */
  readonly roundRobin?: true
  /** `-w N`. */
  readonly wakeup?: number
  /** `--exceptions`. */
  readonly exceptions?: true
  /** `--gearmand-version`; gearmand itself is what is installed. 1.1. */
  readonly version?: GearmandVersion
  /** `-r http`. */
  readonly http?: true
}

/** The same bytes, played to two servers. */
export interface Case {
  readonly name: string
  readonly flags?: Flags
  readonly steps: readonly Step[]
  /** Changes what was heard before it is compared, where servers may differ. */
  readonly normalise?: (line: string) => string
  /** Why the case cannot be played with clients and workers on two nodes. */
  readonly oneNode?: string
}

/** A case without its name; its steps alone where there is no more. */
type Script = readonly Step[] | Omit<Case, 'name'>

/** Cases by their names. */
export function casesOf(scripts: Readonly<Record<string, Script>>): readonly Case[] {
  return Object.entries(scripts).map(([name, script]) => {
    return 'steps' in script ? { name, ...script } : { name, steps: script }
  })
}

/** Says that a worker can do functions, one after the other. */
export const canDo = (worker: string, ...fns: readonly string[]): readonly Step[] =>
  fns.map((fn) => [worker, 'CAN_DO', fn])

/** Asks for so many jobs, one after the other. */
export const grabs = (count: number, worker = 'worker'): readonly Step[] =>
  Array.from({ length: count }, () => [worker, 'GRAB_JOB'])

/** A worker of `mail` comes and asks for so many jobs. */
export const takes = (count = 1, worker = 'worker'): readonly Step[] => [
  ...canDo(worker, 'mail'),
  ...grabs(count, worker),
]

/** A worker of `mail` comes and sleeps. */
export const sleeps = (worker = 'worker'): readonly Step[] => [
  ...canDo(worker, 'mail'),
  [worker, 'PRE_SLEEP'],
]

/** A worker of `mail` has a job for which its client waits. */
export const running = (data = 'x', unique = ''): readonly Step[] => [
  ...canDo('worker', 'mail'),
  ['client', 'SUBMIT_JOB', 'mail', unique, data],
  ...grabs(1),
]

/** Background jobs of `mail`, one for each payload. */
export const submits = (...payloads: readonly string[]): readonly Step[] =>
  payloads.map((payload) => ['client', 'SUBMIT_JOB_BG', 'mail', '', payload])

/** Text commands, each answered before the next one. */
export const texts = (...lines: readonly string[]): readonly Step[] =>
  lines.map((line) => ['admin', 'text', line])
