import type { ApiInput } from '../api/api.ts'
import type { ApiAnswer } from '../api/api-error.ts'
import type { OperationName } from '../api/endpoints.ts'
import type { Config } from '../config/load-config.ts'
import type { FailureCode } from '../errors.ts'
import type { FaktoryNews } from '../faktory/context.ts'
import type { PortRequest, Surplus } from '../net/open-port.ts'
import type { Voice } from '../ops/log/logger.ts'
import type { Figure } from '../ops/metrics/figure.ts'
import type { Answer } from '../ops/page.ts'
import type { Readiness } from '../ops/web-server.ts'
import type { OpenStore } from '../redis-server/open-store.ts'
import type { DoorTls } from '../server/doors.ts'

/** Destination of a process's log. */
export type LogTarget =
  | { readonly kind: 'stdout'; readonly level: Config['logLevel']; readonly voice: Voice }
  /** As in gearmand: a path, `stderr` or `none`; the default is gearmand's. */
  | { readonly kind: 'file'; readonly level: Config['logLevel']; readonly path?: string }

/** A configuration without functions, so that it can be sent. */
export type PlainConfig = Omit<Config, 'cron'> & { readonly cron: readonly object[] }

/** Settings that can be sent. */
export interface PlainSettings {
  readonly config: PlainConfig
  readonly tls: DoorTls
}

/** The task of a process. */
export interface Task extends PlainSettings {
  /** Counted from 1. */
  readonly number: number
  readonly version: string
  readonly store: Omit<OpenStore, 'close'>
  readonly log: LogTarget
  readonly verbosity?: string
  /** The parent: for senders of signals it is the gateway. */
  readonly pid: number
  /** Interval of its heartbeats, ms. */
  readonly aliveEveryMs: number
}

/** A request for a page of the web port, with its body. */
export interface PlainRequest {
  readonly method?: string | undefined
  readonly url?: string | undefined
  readonly contentType?: string | undefined
  readonly remoteAddress?: string | undefined
  readonly body: Uint8Array
}

/** Requests from the parent, by name. */
export interface Orders {
  /** The process's own counters. */
  readonly figures: () => Promise<readonly Figure[]>
  /** Figures of the store, the same at every process. */
  readonly storeScrape: () => Promise<readonly Figure[]>
  /** The same under the names of gearmand's exporter. */
  readonly gearmanScrape: () => Promise<readonly Figure[]>
  /** The same from INFO. */
  readonly faktoryScrape: () => Promise<readonly Figure[]>
  readonly readiness: () => Promise<Readiness>
  readonly api: (name: OperationName, input: ApiInput) => Promise<ApiAnswer>
  readonly page: (path: string, request: PlainRequest) => Promise<Answer>
  readonly unfinished: () => Promise<number>
  readonly stopAccepting: () => void
  readonly drain: () => void
  readonly idle: () => Promise<void>
  readonly reopenLog: () => void
  /** Takes other settings over while it runs. */
  readonly configure: (settings: PlainSettings) => void
}

export type OrderName = keyof Orders

/** Describes a handed connection to its process. */
export interface HandedConnection {
  /** Index among the requested ports. */
  readonly port: number
  /** Name that it is counted under. */
  readonly address: string
  /** One too many: to be refused and not counted. */
  readonly surplus?: Surplus
}

export type ToChild =
  | { readonly what: 'start'; readonly task: Task }
  /** Comes with a socket, unless that died on the way. */
  | ({ readonly what: 'connection' } & HandedConnection)
  | {
      readonly what: 'order'
      readonly id: number
      readonly name: OrderName
      readonly args: readonly unknown[]
    }
  | { readonly what: 'news'; readonly news: FaktoryNews }
  | { readonly what: 'close' }

/** Doors of a process by name, and the ports that they request, in the same order. */
export interface Prepared {
  readonly names: readonly string[]
  readonly portRequests: readonly PortRequest[]
}

export type ToParent =
  /** It can take connections. */
  | ({ readonly what: 'prepared' } & Prepared)
  /** A heartbeat. */
  | { readonly what: 'alive' }
  | { readonly what: 'failed'; readonly message: string; readonly exitCode: FailureCode }
  | { readonly what: 'answer'; readonly id: number; readonly value: unknown }
  | { readonly what: 'refusal'; readonly id: number; readonly message: string }
  | { readonly what: 'closed'; readonly port: number; readonly address: string }
  /** It takes no more connections on the port. */
  | { readonly what: 'shut'; readonly port: number }
  | { readonly what: 'news'; readonly news: FaktoryNews }
  /** The text command `shutdown` came. */
  | { readonly what: 'shutdown'; readonly graceful: boolean }
