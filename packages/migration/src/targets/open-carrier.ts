import type { LaneNames } from '@crossgear/core-scheduler'
import { MigrationError } from '../errors.ts'
import type { JobRecord } from '../record/record.ts'
import type { Fault } from '../target.ts'
import type { Carrier } from './carrier.ts'
import { FaktoryCarrier, faktoryFaultOf } from './faktory-carrier.ts'
import { GearmanCarrier, gearmanFaultOf } from './gearman-carrier.ts'

interface ServerKind {
  readonly shown: string
  readonly usualPort: number
  readonly faultOf: (record: JobRecord) => Fault | undefined
  readonly open: (server: ServerAddress, names: LaneNames) => Promise<Carrier>
}

interface ServerAddress {
  readonly host: string
  readonly port: number
  readonly password?: string
  readonly identity: string
}

/** One row per scheme of `--to` that is another server. */
const kinds: Readonly<Record<string, ServerKind>> = {
  gearman: {
    shown: 'gearman://host:port',
    usualPort: 4730,
    faultOf: gearmanFaultOf,
    open: (server, names) => GearmanCarrier.open({ ...server, names }),
  },
  faktory: {
    shown: 'faktory://[:password@]host:port',
    usualPort: 7419,
    faultOf: faktoryFaultOf,
    open: (server, names) => FaktoryCarrier.open({ ...server, names }),
  },
}

/** Forms of `--to` that are other servers. */
export const serverForms: readonly string[] = Object.values(kinds).map(({ shown }) => shown)

/** A server of another system that jobs go to. */
export interface ServerTarget {
  /** The address of the target without a password. */
  readonly identity: string
  readonly address: ServerAddress
  /** Why its protocol cannot express a job. */
  faultOf(record: JobRecord): Fault | undefined
  open(names: LaneNames): Promise<Carrier>
}

/** The server that an address names; undefined where it is none of those. Throws a {@link MigrationError}. */
export function serverTargetOf(address: string | undefined): ServerTarget | undefined {
  const scheme = /^([a-z]+):/.exec(address ?? '')?.[1] ?? ''
  const kind = kinds[scheme]
  if (address === undefined || !kind) return undefined
  const server = parsedAddress(address, scheme, kind)
  const { identity } = server
  return {
    identity,
    address: server,
    faultOf: kind.faultOf,
    open: (names) => kind.open(server, names),
  }
}

function parsedAddress(
  address: string,
  scheme: string,
  { shown, usualPort }: ServerKind,
): ServerAddress {
  try {
    const url = new URL(address)
    if (url.search !== '' || url.pathname.length > 1) throw new Error('it has more than that')
    const host = url.hostname.replace(/^\[(.*)\]$/, '$1') || '127.0.0.1'
    const port = url.port === '' ? usualPort : Number(url.port)
    const password = decodeURIComponent(url.password)
    const identity = `${scheme}://${host}:${port}`
    return { host, port, identity, ...(password !== '' && { password }) }
  } catch (error) {
    throw new MigrationError('USAGE', `--to is not an address: give ${shown}.`, { cause: error })
  }
}
