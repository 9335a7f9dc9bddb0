import type { LaneNames } from '@crossgear/core-scheduler'
import { lineOf, MigrationError, picked } from '@crossgear/migration'
import { RedisStore } from '@crossgear/redis-store'
import pino from 'pino'
import { type ConfigSources, loadConfig } from '../../config/load-config.ts'
import { laneNamesOf } from '../../config/routes.ts'
import { refusedWritesOf } from '../../operations/refused-writes.ts'
import { readDurability } from '../../config/value-kinds.ts'
import { StartError } from '../../errors.ts'
import { type CommandUse, openStoreForCommand } from '../../store/open-store.ts'
import { printStoreAddress } from '../../config/store-address.ts'
import type { MigrateArguments } from './arguments.ts'

/** The target store, with the relevant parts of the gateway's configuration. */
export interface TargetStore {
  readonly store: RedisStore
  readonly names: LaneNames
  /** The store's address without its password. */
  readonly address: string
  close(): Promise<void>
}

const stderrFd = 2

/** Opens the store that a gateway with the same options has. Throws a MigrationError. */
export async function openTargetStore(
  given: Pick<MigrateArguments, 'to' | 'config' | 'dataDir' | 'durability'>,
  env: ConfigSources['env'],
  use: CommandUse,
): Promise<TargetStore> {
  const flags = {
    ...(given.to !== undefined && { redisUrl: given.to }),
    ...picked(given, ['config', 'dataDir', 'durability']),
  }
  try {
    const config = loadConfig({ flags, env })
    const log = pino(
      { level: 'error', base: null },
      pino.destination({ dest: stderrFd, sync: true }),
    )
    const opened = await openStoreForCommand(config, use, log, env['PATH'])
    const names = laneNamesOf(config)
    const level = readDurability(config.durability)
    const store = new RedisStore(opened.address, { names, ...(level && { durability: level }) })
    await store.open()
    return {
      store,
      names,
      address: printStoreAddress(opened.address),
      close: async () => {
        await store.close()
        await opened.close()
      },
    }
  } catch (error) {
    const isUsage = error instanceof StartError && error.exitCode === 2
    const said =
      error instanceof StartError
        ? error.message
        : (refusedWritesOf(error)?.line ?? `The target store: ${lineOf(error).replace(/\.$/, '')}.`)
    // A start's advice names the option of a gateway.
    const message = given.to === undefined ? said : said.replaceAll('--redis-url', '--to')
    throw new MigrationError(isUsage ? 'USAGE' : 'UNREACHABLE', message, { cause: error })
  }
}
