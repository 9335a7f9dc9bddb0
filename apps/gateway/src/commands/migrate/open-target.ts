import { LaneNames } from '@crossgear/core-scheduler'
import {
  Journal,
  JournaledTarget,
  type Ledger,
  MigrationError,
  type ServerTarget,
  serverTargetOf,
  StoreTarget,
  type Target,
} from '@crossgear/migration'
import { type ConfigSources, loadConfig } from '../../config/load-config.ts'
import { laneNamesOf } from '../../config/routes.ts'
import { StartError } from '../../errors.ts'
import type { Act, MigrateArguments } from './arguments.ts'
import { openTargetStore } from './target-store.ts'

/** A run's view of its target. */
export interface OpenedTarget {
  readonly target: Target
  readonly ledger: Ledger
  /** One line each. */
  readonly limits: readonly string[]
  close(): Promise<void>
}

/** Opens the store or server that receives the jobs. Throws a MigrationError. */
export async function openTarget(
  name: string,
  given: MigrateArguments,
  env: ConfigSources['env'],
): Promise<OpenedTarget> {
  if (given.to?.startsWith('file:') === true) {
    const how = `crossgear migrate export --from ${given.from} --to ${given.to}`
    throw new MigrationError('USAGE', `--to is a file: only export writes one. Run ${how}`)
  }
  const server = serverTargetOf(given.to)
  if (server) return openServerTarget(server, name, given, env)
  refuseForStore(given)
  const opened = await openTargetStore(given, env, { writes: !given.isDryRun, option: '--to' })
  const target = new StoreTarget(opened.store, opened.names, name)
  return { target, ledger: target, limits: [], close: () => opened.close() }
}

/** Another server, with the journal of sent jobs. */
async function openServerTarget(
  server: ServerTarget,
  name: string,
  given: MigrateArguments,
  env: ConfigSources['env'],
): Promise<OpenedTarget> {
  const { journal: path, inDoubt = 'repeat' } = given
  refuseStoreOptions(given)
  if (path === undefined) {
    const why =
      'such a server does not record which jobs came, which a killed run needs to continue'
    throw new MigrationError('USAGE', `--to ${server.identity} needs --journal FILE: ${why}.`)
  }
  const carrier = await server.open(namesOf(given, env))
  try {
    const journal = await Journal.open(path, { name, target: server.identity })
    const target = new JournaledTarget(carrier, journal, inDoubt)
    return { target, ledger: journal, limits: carrier.limits, close: () => target.close() }
  } catch (error) {
    await carrier.close()
    throw error
  }
}

/** Refuses acts that only a store supports. */
export function refuseServer({ act, to }: MigrateArguments): void {
  const server = serverTargetOf(to)
  if (!server) return
  const why: Partial<Record<Act, string>> = {
    verify: 'it does not show its jobs, so there is nothing to compare with',
    rollback: `nobody can take a queued job back there: move it, with --from ${server.identity} --move`,
  }
  throw new MigrationError('USAGE', `${act} cannot be done with ${server.identity}: ${why[act]}.`)
}

/** Refuses options that make no sense for a store. */
function refuseForStore({ journal, inDoubt }: MigrateArguments): void {
  if (journal === undefined && inDoubt === undefined) return
  const why = 'a store keeps its own notes, and no job of it is ever in doubt'
  throw new MigrationError('USAGE', `--journal and --in-doubt are for other servers: ${why}.`)
}

function refuseStoreOptions({ durability, dataDir }: MigrateArguments): void {
  if (durability === undefined && dataDir === undefined) return
  const why = 'another server has its own settings for these'
  throw new MigrationError(
    'USAGE',
    `--durability and --data-dir are for a Crossgear store: ${why}.`,
  )
}

/** Home queues by the routes of the gateway's file. */
function namesOf({ config: file }: MigrateArguments, env: ConfigSources['env']): LaneNames {
  if (file === undefined) return new LaneNames()
  try {
    return laneNamesOf(loadConfig({ flags: { config: file }, env }))
  } catch (error) {
    if (!(error instanceof StartError)) throw error
    throw new MigrationError('USAGE', error.message, { cause: error })
  }
}
