import { doors } from '../doors/table.ts'
import { maskStoreUrl, parseStoreUrl } from '../config/store-address.ts'
import { bracketed } from '../doors/net/addresses.ts'
import type { DoorRow } from '../doors/net/door-row.ts'
import type { OpenStore } from '../store/open-store.ts'
import type { Logger, Voice } from '../config/log/logger.ts'

/** A port that is open. */
export interface OpenDoor {
  readonly name: string
  readonly host: string
  readonly port: number
  /** The port speaks TLS. */
  readonly tls: boolean
}

export interface Announcement {
  readonly version: string
  readonly doors: readonly OpenDoor[]
  readonly store: Pick<OpenStore, 'kind' | 'describe' | 'nativeUrl'>
  readonly hasPassword: boolean
  readonly voice: Voice
  readonly log: Logger
}

type Shown = Pick<DoorRow, 'title' | 'trial'>

const web: Shown = {
  title: 'Dashboard',
  trial: ({ host, port, tls }) => `${tls ? 'https' : 'http'}://${bracketed(host)}:${port}/`,
}

/** How a port is called, and a command that shows it at work. */
function shownOf(port: string): Shown | undefined {
  return port === 'web' ? web : doors.find(({ name }) => name === port)
}

/** Announces that the gateway is ready: text for a person, one log line for a program. */
export function announce(announcement: Announcement): void {
  const { version, voice, log } = announcement
  if (voice === 'json') log.info({ version, ...describe(announcement) }, 'Ready.')
  else if (log.level !== 'silent') {
    const shown = process.stdout.isTTY ? announcement : withoutPassword(announcement)
    process.stdout.write(`${renderBanner(shown)}\n`)
  }
}

/** Anything but a terminal may be kept as a log. */
export function withoutPassword(announcement: Announcement): Announcement {
  const { store } = announcement
  return { ...announcement, store: { ...store, nativeUrl: maskStoreUrl(store.nativeUrl) } }
}

/** The open doors and the store as data, without passwords. */
export function describe(announcement: Announcement) {
  const { doors, store, hasPassword } = withoutPassword(announcement)
  const { kind, describe: server, nativeUrl } = store
  return {
    store: { kind, server, nativeUrl, try: nativeTrial(nativeUrl) },
    doors: doors.map((door) => ({ ...door, try: trialOf(door, hasPassword) })),
  }
}

export function renderBanner(announcement: Announcement): string {
  const { version, doors, store, hasPassword } = announcement
  const rows = [
    ...doors.map((door) => ({
      title: shownOf(door.name)?.title ?? door.name,
      address: `${bracketed(door.host)}:${door.port}`,
      try: trialOf(door, hasPassword) ?? '',
    })),
    { title: 'GearMonkey', address: store.nativeUrl, try: nativeTrial(store.nativeUrl) },
  ]
  const titles = Math.max(...rows.map((row) => row.title.length))
  const addresses = Math.max(...rows.map((row) => row.address.length))
  const lines = rows.map((row) => {
    const hint = row.try ? `   ${row.try.startsWith('http') ? 'open' : 'try'}: ${row.try}` : ''
    return `  ${row.title.padEnd(titles)}  ${row.address.padEnd(addresses)}${hint}`.trimEnd()
  })
  return [
    '',
    `Crossgear ${version} is ready.`,
    '',
    `  ${'Store'.padEnd(titles)}  ${store.describe}`,
    ...lines,
    '',
    'Ctrl-C stops it.',
    '',
  ].join('\n')
}

function trialOf({ name, host, port, tls }: OpenDoor, hasPassword: boolean): string | undefined {
  return shownOf(name)?.trial({ host: reachable(host), port, hasPassword, tls })
}

/** A command that shows a native client at work. `redis-cli` takes a socket by its path alone. */
function nativeTrial(url: string): string {
  const address = parseStoreUrl(url)
  const login = address?.password === undefined ? '' : ` -a '${address.password}'`
  const at = address && 'path' in address ? `-s '${address.path ?? ''}'${login}` : `-u '${url}'`
  return `redis-cli ${at} HGETALL job:hello:1`
}

/** The address for a client on this machine of a door that listens on every address. */
function reachable(host: string): string {
  return { '*': '127.0.0.1', '0.0.0.0': '127.0.0.1', '::': '::1' }[host] ?? host
}
