import { gearmandVersions } from '../gearman/gearmand-version.ts'
import { checkDurability } from '../redis-server/check-durability.ts'
import { storeAnswers } from '../redis-server/given-store.ts'
import { openStore } from '../redis-server/open-store.ts'
import { type Opening, openWeb } from '../server/open.ts'
import type { Closers, RunningGateway } from '../server/shutdown.ts'
import { ConnectionDispatcher } from './connection-dispatcher.ts'
import type { Task } from './messages.ts'
import { plainConfig } from './plain-config.ts'
import { Processes } from './processes.ts'
import { SharedFigures } from './shared-figures.ts'
import { SharedApi } from './shared-api.ts'
import { sharedPages } from './shared-pages.ts'

/** Interval of a process's heartbeats, ms. */
const usualAliveEveryMs = 5000

/** Opens a gateway with several working processes; this one is their parent. */
export async function openProcesses(opening: Opening, closers: Closers): Promise<RunningGateway> {
  const { config, log, ways, tls, version, voice, openPort, shutdown, fail } = opening
  const { aliveEveryMs = usualAliveEveryMs } = ways
  const all = () => processes.all
  const figures = new SharedFigures(all, gearmandVersions[config.gearmandVersion].number)
  const dispatcher = new ConnectionDispatcher({
    maxConnections: config.maxConnections,
    maxPerAddress: config.maxConnectionsPerAddress,
    processes: all,
    openPort,
  })
  // They load their program while the store starts.
  const processes = new Processes({
    ...{ count: config.processes, log, shutdown, fail, aliveEveryMs },
    storeAnswers: () => storeAnswers(store.address),
    changed: () => dispatcher.look(),
    departed: (process) => figures.departed(process),
  })
  closers.push({ what: 'processes', close: () => processes.close() })
  const store = await openStore(config, log, ways.searchPath, opening.signal)
  closers.unshift({ what: 'store', close: () => store.close() })
  await checkDurability(config.durability, store, log)

  const { address, kind, describe, nativeUrl } = store
  let task: Omit<Task, 'number'> = {
    ...{ version, tls, store: { address, kind, describe, nativeUrl }, pid: process.pid },
    ...{ config: plainConfig(config), aliveEveryMs },
    log: ways.logTarget ?? { kind: 'stdout', level: config.logLevel, voice },
    ...(ways.verbosity !== undefined && { verbosity: ways.verbosity }),
  }
  const { names, portRequests } = await processes.start((number) => ({ ...task, number }))
  closers.push({ what: 'doors', close: () => dispatcher.close() })
  const addresses = await dispatcher.open(portRequests)
  const check = () => processes.check()
  const pages = sharedPages(all)
  const api = new SharedApi(all)
  const { reload } = opening
  const webParts = {
    figures,
    check,
    log,
    pages,
    api,
    version,
    ...opening.web,
    ...(reload && { reload }),
  }
  const web = await openWeb(config, webParts, closers)
  processes.keep()
  ways.onReopen?.(() => void processes.notifyAll('reopenLog'))

  const doors = addresses.map((address, at) => ({ name: names[at] ?? '', ...address }))
  return {
    store,
    doors: [...doors, ...web.doors],
    configure: async (settings) => {
      const plain = { config: plainConfig(settings.config), tls: settings.tls }
      task = { ...task, ...plain, log: { ...task.log, level: settings.config.logLevel } }
      web.configure(settings.config)
      await processes.configure(plain)
    },
    stopAccepting: () => {
      processes.leave()
      dispatcher.stopping()
      void processes.notifyAll('stopAccepting')
    },
    unfinished: () => processes.unfinished(),
    drain: () => {
      processes.leave()
      dispatcher.stopping()
      void processes.notifyAll('drain')
    },
    idle: () => processes.notifyAll('idle'),
    abandon: () => processes.kill(),
  }
}
