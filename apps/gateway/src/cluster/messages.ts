import type { Config } from '../config/load-config.ts'
import type { FailureCode } from '../errors.ts'
import type { FaktoryNews } from '../faktory/context.ts'
import type { PortRequest, Surplus } from '../net/open-port.ts'
import type { Voice } from '../ops/log/logger.ts'
import type { Figure } from '../ops/metrics/figure.ts'
import type { StoreScrape } from '../ops/metrics/metrics-pages.ts'
import type { Answer } from '../ops/page.ts'
import type { Readiness } from '../ops/web-server.ts'
import type { OpenStore } from '../redis-server/open-store.ts'
import type { DoorTls } from '../server/doors.ts'

/** Where a process writes its log. */
export type LogTarget =
  | { readonly kind: 'stdout'; readonly level: Config['logLevel']; readonly voice: Voice }
  /** As gearmand does: a path, `stderr` or `none`; gearmand's own if left out. */
  | { readonly kind: 'file'; readonly level: Config['logLevel']; readonly path?: string }

/** A configuration without functions, which cannot be sent. */
export type PlainConfig = Omit<Config, 'cron'> & { readonly cron: readonly object[] }

/** The task of a process. */
export interface Task {
  /** From 1. */
  readonly number: number
  readonly config: PlainConfig
  readonly version: string
  readonly tls: DoorTls
  readonly store: Omit<OpenStore, 'close'>
  readonly log: LogTarget
  readonly verbosity?: string
  /** The parent, which is the gateway to those who send signals. */
  readonly pid: number
  /** How often it says that it lives, ms. */
  readonly aliveEveryMs: number
}

/** A request for a page of the web port, its body read. */
export interface PlainRequest {
  readonly method?: string | undefined
  readonly url?: string | undefined
  readonly contentType?: string | undefined
  readonly remoteAddress?: string | undefined
  readonly body: Uint8Array
}

/** Requests of the parent, by name. */
export interface Orders {
  /** Its own counters. */
  readonly figures: () => Promise<readonly Figure[]>
  /** Figures of the store, the same at every process. */
  readonly storeScrape: () => Promise<StoreScrape>
  readonly readiness: () => Promise<Readiness>
  readonly page: (path: string, request: PlainRequest) => Promise<Answer>
  readonly unfinished: () => Promise<number>
  readonly stopAccepting: () => void
  readonly drain: () => void
  readonly idle: () => Promise<void>
  readonly reopenLog: () => void
}

export type OrderName = keyof Orders

/** The message to a process about a connection that it is given. */
export interface HandedConnection {
  /** The place among the ports wished for. */
  readonly port: number
  /** The name it is counted under. */
  readonly address: string
  /** It is one too many: to be refused, and not counted. */
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

/** The doors of a process, by name, and the ports that they wish for, in the same order. */
export interface Prepared {
  readonly names: readonly string[]
  readonly portRequests: readonly PortRequest[]
}

export type ToParent =
  /** It can take connections. */
  | ({ readonly what: 'prepared' } & Prepared)
  /** A sign of life. */
  | { readonly what: 'alive' }
  | { readonly what: 'failed'; readonly message: string; readonly exitCode: FailureCode }
  | { readonly what: 'answer'; readonly id: number; readonly value: unknown }
  | { readonly what: 'refusal'; readonly id: number; readonly message: string }
  | { readonly what: 'closed'; readonly port: number; readonly address: string }
  /** It takes no more connections for the port. */
  | { readonly what: 'shut'; readonly port: number }
  | { readonly what: 'news'; readonly news: FaktoryNews }
  /** The text command `shutdown` came. */
  | { readonly what: 'shutdown'; readonly graceful: boolean }
