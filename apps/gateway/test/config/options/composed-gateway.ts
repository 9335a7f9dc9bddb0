import { onTestFinished } from 'vitest'
import type { ApiBackend } from '../../../src/web/api/api.ts'
import { loadConfig } from '../../../src/config/load-config.ts'
import type { OptionName } from '../../../src/config/options.ts'
import type { Door } from '../../../src/doors/net/door.ts'
import { compose, type Composition } from '../../../src/server/compose.ts'
import { readPortTls } from '../../../src/server/doors.ts'
import { openStore } from '../../../src/store/open-store.ts'
import { metricsPage } from '../../support/metrics-page.ts'
import type { FigureSources } from '../../../src/operations/metrics/metrics-pages.ts'
import { FwpClient } from '../../doors/faktory/support/fwp-client.ts'
import { GearmanPeer } from '../../doors/gearman/support/gearman-peer.ts'
import { recordingLog } from '../../support/recording-log.ts'
import { redisOfSuite } from '../../support/redis-of-suite.ts'

/** A gateway in this process, made from options as the command line gives them. */
export interface ComposedGateway {
  readonly doors: readonly string[]
  port(door: string): number
  /** An open door. */
  door(name: string): Door
  peer(...functions: readonly string[]): Promise<GearmanPeer>
  /** A connection that has said HELLO with these fields; without them it has said nothing. */
  faktory(hello?: object): Promise<FwpClient>
  /** A Faktory worker, by default `w1`. */
  consumer(hello?: object): Promise<FwpClient>
  metrics(): Promise<string>
  /** The sources of the metrics pages. */
  readonly figures: FigureSources
  /** The lines of its log. */
  readonly log: readonly string[]
  /** Why it takes no jobs. */
  readonly check: Composition['check']
  /** Answers the API. */
  readonly api: ApiBackend
  /** The key that all nodes sign sessions with. */
  readonly storeKey: () => Promise<Buffer>
  /** Notes acts in the audit. */
  readonly acted: Composition['acted']
  /** Pages of the web port besides the API. */
  readonly pages: Composition['pages']
}

export type Flags = Readonly<Partial<Record<OptionName, string>>>
export type Open = (flags?: Flags) => Promise<ComposedGateway>

/** Gateways on a Redis of the suite, which is emptied before each test if it is to be. */
export function openOnRedis(how: { readonly isEmptied?: boolean } = {}) {
  const redis = redisOfSuite(how)
  return { redis, open: openOn(() => `unix://${redis().path}`) }
}

/**
 * Opens gateways on one Redis; each ends with its test. Between two looks at the figures of the store pass `passMs`:
 * every page is of its own second, unless that is 0. `answerWithinMs`: the longest wait for the store.
 */
export function openOn(redisUrl: () => string, passMs = 10_000, answerWithinMs?: number): Open {
  return async (flags = {}) => {
    const ports = { gearmanPort: '0', faktoryPort: '0', httpPort: '0', webPort: '0' }
    const config = loadConfig({ flags: { ...ports, redisUrl: redisUrl(), ...flags }, env: {} })
    const { log, lines } = recordingLog()
    let nowMs = 0
    const composition = await compose({
      config,
      version: '0.1.0',
      tls: readPortTls(config),
      log,
      figuresNowMs: () => (nowMs += passMs),
      store: await openStore(config, log),
      shutdown: () => undefined,
      ...(answerWithinMs !== undefined && { answerWithinMs }),
    })
    const open = new Map<string, number>()
    onTestFinished(async () => {
      for (const door of composition.doors) await door.close()
      await composition.close()
    })
    for (const door of composition.doors) open.set(door.name, (await door.listen()).port)
    const port = (door: string): number => open.get(door) ?? 0
    const faktory = (hello?: object): Promise<FwpClient> =>
      hello ? FwpClient.ofTest(port('faktory'), hello) : FwpClient.strangerOfTest(port('faktory'))
    return {
      doors: [...open.keys()],
      port,
      door: (name) => {
        const found = composition.doors.find((door) => door.name === name)
        if (!found) throw new Error(`${name} is off`)
        return found
      },
      peer: async (...functions) => {
        const peer = await GearmanPeer.ofTest(port('gearman'))
        for (const fn of functions) peer.send('CAN_DO', fn)
        return peer
      },
      faktory,
      consumer: (hello) => faktory({ wid: 'w1', hostname: 'h', pid: 1, labels: [], ...hello }),
      figures: composition.figures,
      log: lines,
      check: () => composition.check(),
      api: composition.api,
      storeKey: composition.storeKey,
      acted: composition.acted,
      pages: composition.pages,
      metrics: () => metricsPage(composition.figures),
    }
  }
}
