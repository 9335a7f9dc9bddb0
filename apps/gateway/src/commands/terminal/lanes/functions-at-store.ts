import type { LaneNames, LaneOpenness } from '@crossgear/core-scheduler'
import { RedisStore } from '@crossgear/redis-store'
import pino from 'pino'
import { storeAddressOf } from '../../cli/store-address-of.ts'
import type { Config } from '../../../config/load-config.ts'
import { laneNamesOf } from '../../../config/routes.ts'
import { oneLine, StartError } from '../../../errors.ts'
import { checkGivenStore } from '../../../store/given-store.ts'

export type FunctionAction = 'list' | 'open' | 'close'

type Write = (line: string) => void

/**
 * `functions list|open|close` at the store itself, for gateways without a password: who may open the store may do so.
 *
 * @throws StartError
 */
export async function functionsAtStore(
  action: FunctionAction,
  functions: readonly string[],
  config: Config,
  write: Write,
): Promise<void> {
  const names = laneNamesOf(config)
  const address = await storeAddressOf(config)
  await checkGivenStore(address, pino({ level: 'silent' }))
  const store = new RedisStore(address, { names })
  try {
    await store.open()
    await actions[action]({ store, names, functions, config, write })
  } catch (error) {
    const reason = oneLine(error).replace(/\.$/, '')
    throw new StartError(`The store cannot be asked: ${reason}.`, 1, { cause: error })
  } finally {
    await store.close()
  }
}

interface Task {
  readonly store: RedisStore
  readonly names: LaneNames
  readonly functions: readonly string[]
  readonly config: Config
  readonly write: Write
}

const actions: Readonly<Record<FunctionAction, (task: Task) => Promise<void>>> = {
  async list({ store, names, functions, config, write }) {
    const known = [...(await store.lanes.all()).keys()].sort()
    const lanes = known.filter((lane) => functions.length === 0 || isOf(lane, functions, names))
    for (const openness of await store.lanes.openness(lanes)) {
      write(`${openness.lane}\t${wordsOf(openness, config)}`)
    }
  },

  async open({ store, names, functions, write }) {
    for (const lane of await lanesOf(store, names, functions)) {
      await store.lanes.open(lane)
      await store.lanes.keep(lane)
      write(`${lane}: open to Faktory consumers of the queue ${names.parse(lane).queue}.`)
    }
  },

  async close({ store, names, functions, write }) {
    for (const lane of await lanesOf(store, names, functions)) {
      await store.lanes.close(lane)
      write(`${lane}: closed to Faktory consumers until it is opened.`)
    }
  },
}

function isOf(lane: string, functions: readonly string[], names: LaneNames): boolean {
  return functions.some((name) => name === names.parse(lane).fn || names.canonical(name) === lane)
}

/** All lanes of the functions; an unknown one is created. */
async function lanesOf(
  store: RedisStore,
  names: LaneNames,
  functions: readonly string[],
): Promise<readonly string[]> {
  const lanes = new Set(functions.map((name) => names.canonical(name)))
  for (const lane of lanes) await store.lanes.register(lane)
  for (const lane of (await store.lanes.all()).keys())
    if (isOf(lane, functions, names)) lanes.add(lane)
  return [...lanes]
}

function wordsOf(
  { state, namedWorkers, closedUntilMs }: LaneOpenness,
  { bridgeFaktory }: Config,
): string {
  if (state === 'open') return 'open'
  if (state === 'shut') return 'closed, by an operator'
  if (bridgeFaktory === 'routed') return 'closed, by --bridge-faktory routed'
  if (state === 'auto') return 'open, since no worker asked for it by name lately'
  if (namedWorkers > 0) return `closed, for it has ${namedWorkers} workers by name`
  return `closed until ${new Date(closedUntilMs).toISOString()}, for it had workers by name`
}
