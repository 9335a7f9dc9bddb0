import type { Logger } from 'pino'
import type { AccessOptions } from '../web/api/access.ts'
import type { Reload } from '../web/api/schemas/session.ts'
import { type Config, webHostOf } from '../config/load-config.ts'
import { ownNames } from '../doors/net/foreign-requests.ts'
import { readNetworks } from '../doors/net/networks.ts'
import type { OpenPort } from '../doors/net/open-port.ts'
import type { Announcement, OpenDoor } from './banner.ts'
import type { Voice } from '../config/log/logger.ts'
import type { WebParts, WebServer } from '../web/web-server.ts'
import { checkDurability } from '../store/check-durability.ts'
import { type OpenStore, openStore } from '../store/open-store.ts'
import type { Composition } from './compose.ts'
import type { PortTls, Settings } from './doors.ts'
import type { Reread } from './reload.ts'
import { notify } from './notify.ts'
import type { Closers, RunningGateway } from './shutdown.ts'
import { StoreWait } from './store-wait.ts'

/** Differences of a command. Defaults at the end of each line. */
export interface ServeWays {
  /** The log. By the configuration. */
  readonly log?: Logger
  /** Reads the configuration again, for a reload. The gateway cannot. */
  readonly reread?: () => Reread
  /** Lines that the log has as warnings once the gateway runs. None. */
  readonly notes?: readonly string[]
  /** Folders to search for a private store program. PATH. */
  readonly searchPath?: string
  /** The answer to the Gearman text command `verbose`. ERROR. */
  readonly verbosity?: string
  /** The environment, by which a service manager hands over sockets. Empty. */
  readonly env?: NodeJS.ProcessEnv
  /** Called when every door is open. The banner. */
  readonly ready?: (announcement: Announcement) => void
}

/** The state before anything is opened. */
export interface Opening {
  readonly config: Config
  readonly version: string
  readonly tls: PortTls
  readonly voice: Voice
  readonly log: Logger
  readonly ways: ServeWays
  readonly openPort: OpenPort
  /** Set where the socket of the web port was handed over. */
  readonly web: Pick<WebParts, 'openPort'>
  /** Reads the settings again, once the gateway runs. */
  readonly reload?: Reload
  /** The text command `shutdown` came by the Gearman port. */
  readonly shutdown: (graceful: boolean) => void
  /** The gateway cannot continue. */
  readonly fail: (reason: string) => void
  /** Aborted when the gateway is asked to stop before it has started. */
  readonly signal: AbortSignal
}

/** Opens the store that the configuration names. */
async function openOwn({ config, log, ways, signal }: Opening): Promise<OpenStore> {
  const store = await openStore(config, log, ways.searchPath, signal)
  await checkDurability(config.durability, store, log)
  return store
}

/** Waits for the store; meanwhile the web port says why the gateway is not ready. */
function waitForStore(
  { config, tls, log, signal, web, ways }: Opening,
  closers: Closers,
): { readonly wait: StoreWait; readonly web: () => WebServer | undefined } {
  let waiting: WebServer | undefined
  const wait = new StoreWait({
    config,
    log,
    signal,
    begin: async () => {
      const { env = {} } = ways
      notify(env, log, ['--ready', '--status=Waiting for the store'])
      const { webPort: port } = config
      if (port === 'off') return
      const { createWebServer } = await import('../web/web-server.ts')
      const check = () => Promise.resolve({ ready: false, reason: wait.reason } as const)
      const host = webHostOf(config)
      const names = ownNames(config.allowedHosts, host)
      const server = createWebServer({
        ...web,
        log,
        names,
        check,
        ...(tls.web && { tls: tls.web }),
      })
      closers.push({ what: 'web', close: () => server.close() })
      await server.listen({ host, port })
      waiting = server
    },
  })
  return { wait, web: () => waiting }
}

/** Opens the gateway. */
export async function openGateway(opening: Opening, closers: Closers): Promise<RunningGateway> {
  const { config, log, tls, ways, openPort } = opening
  const { wait, web: waiting } = waitForStore(opening, closers)
  const store = await wait.for(() => openOwn(opening))
  closers.push({ what: 'store', close: () => store.close() })
  const { compose } = await import('./compose.ts')
  const composition = await wait.for(() =>
    compose({
      config,
      version: opening.version,
      tls,
      store,
      log,
      openPort,
      shutdown: opening.shutdown,
      fail: opening.fail,
      ...(ways.verbosity !== undefined && { verbosity: ways.verbosity }),
    }),
  )
  closers.push({ what: 'scheduler', close: () => composition.close() })
  const doors = await openDoors(composition, tls, closers)
  const web = await openWeb(
    { config, tls },
    {
      ...composition,
      ...opening.web,
      log,
      version: opening.version,
      ...(opening.reload && { reload: opening.reload }),
    },
    closers,
    waiting()?.handOver(),
  )
  return {
    store,
    doors: [...doors, ...web.doors],
    stopAccepting: () => {
      for (const door of composition.doors) door.stopAccepting()
    },
    unfinished: () => composition.unfinished(),
    drain: () => {
      composition.drain()
      for (const door of composition.doors) door.drain()
    },
    idle: () => composition.idle(),
    configure: (settings) => {
      composition.configure(settings)
      web.configure(settings)
    },
    state: async () => {
      const readiness = await composition.check()
      return [
        ...composition.activity(),
        `the store (${store.describe}) ${readiness.ready ? 'takes jobs' : `takes no jobs: ${readiness.reason}`}.`,
      ]
    },
  }
}

/**
 * Opens the doors one after the other.
 *
 * @throws StartError
 */
async function openDoors(
  composition: Composition,
  tls: PortTls,
  closers: Closers,
): Promise<OpenDoor[]> {
  const secured: readonly string[] = Object.keys(tls)
  const doors: OpenDoor[] = []
  for (const door of composition.doors) {
    closers.push({ what: door.name, close: () => door.close() })
    const { name } = door
    doors.push({ name, ...(await door.listen()), tls: secured.includes(name) })
  }
  return doors
}

/**
 * Opens the port for monitoring, unless it is off. `configure` takes other passwords and certificates over.
 *
 * @throws StartError
 */
async function openWeb(
  { config, tls }: Settings,
  parts: Omit<WebParts, 'names' | 'access' | 'tls'>,
  closers: Closers,
  before?: ReturnType<WebServer['handOver']>,
): Promise<Pick<RunningGateway, 'doors'> & { readonly configure: (settings: Settings) => void }> {
  const { webPort: port } = config
  const host = webHostOf(config)
  if (port === 'off') return { doors: [], configure: () => undefined }
  const { createWebServer } = await import('../web/web-server.ts')
  const names = ownNames(config.allowedHosts, host)
  const access = accessOf(config)
  const own = tls.web && { tls: tls.web }
  const web = createWebServer({ ...parts, ...own, names, access }, before)
  closers.push({ what: 'web', close: () => web.close() })
  return {
    doors: [{ name: 'web', ...(await web.listen({ host, port })), tls: own !== undefined }],
    configure: (next) => {
      web.configure(accessOf(next.config))
      if (next.tls.web) web.renewTls(next.tls.web)
    },
  }
}

/** How a configuration guards the port. */
function accessOf(config: Config): AccessOptions {
  const { webPassword, webReaderPassword, webUserHeader, webRoleHeader, webProxyFrom } = config
  const namesPeople = webUserHeader !== undefined && webRoleHeader !== undefined
  return {
    isOpen: config.webOpen,
    tries: config.webPasswordTries,
    operators: config.operators,
    ...(webProxyFrom !== undefined && {
      proxy: {
        ...(namesPeople && { names: { userHeader: webUserHeader, roleHeader: webRoleHeader } }),
        from: readNetworks(webProxyFrom) ?? [],
      },
    }),
    ...(webPassword !== undefined && { password: webPassword }),
    ...(webReaderPassword !== undefined && { readerPassword: webReaderPassword }),
  }
}
