import { checkDurability } from '../redis-server/check-durability.ts'
import { openStore } from '../redis-server/open-store.ts'
import { Metrics } from '../ops/metrics.ts'
import { compose } from './compose.ts'
import { openDoors } from './open-doors.ts'
import { openWeb } from './open-web.ts'
import { endable, type Closers, type RunningGateway } from './running-gateway.ts'
import type { Opening } from './serve.ts'

/** Opens a gateway that is this process alone. */
export async function openAlone(opening: Opening, closers: Closers): Promise<RunningGateway> {
  const { config, log, tls, ways } = opening
  const store = await openStore(config, log, ways.searchPath, opening.signal)
  closers.push({ what: 'store', close: () => store.close() })
  await checkDurability(config.durability, store, log)
  const metrics = new Metrics()
  const composition = await compose({
    ...{ config, version: opening.version, tls, store, metrics, log },
    shutdown: opening.shutdown,
    ...(ways.verbosity !== undefined && { verbosity: ways.verbosity }),
  })
  closers.push({ what: 'scheduler', close: () => composition.close() })
  metrics.countJobsWith(() => composition.counts())
  const doors = await openDoors(composition, closers)
  const web = await openWeb(
    config,
    { metrics, check: () => composition.check(), log, pages: composition.pages },
    closers,
  )
  return { ...endable(composition), store, doors: [...doors, ...web] }
}
