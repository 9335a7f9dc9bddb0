import { type DoorRows, doors } from '../doors/table.ts'
import { inGroup, optional, type Setting, text, yesNo } from './value-kinds.ts'

const web = { name: 'web', title: 'web', tls: 'server' } as const

type TlsPortRow = Exclude<DoorRows, { readonly tls: 'none' }> | typeof web

/** Ports that can speak TLS, and of these the ones that can ask clients for a certificate. */
export type TlsPort = TlsPortRow['name']
type ClientTlsPort = Extract<TlsPortRow, { readonly tls: 'clients' }>['name']

type PemOption = `${TlsPort}TlsCert` | `${TlsPort}TlsKey` | `${ClientTlsPort}TlsCa`
type TlsOptionRows = Readonly<Record<PemOption, Setting<string | undefined>>> &
  Readonly<Record<`${ClientTlsPort}TlsVerifyClients`, Setting<boolean>>>

/** The rows of the ports that can speak TLS: doors, and the web port. */
export const tlsPorts: readonly TlsPortRow[] = [
  ...doors.filter(
    (door): door is Exclude<DoorRows, { readonly tls: 'none' }> => door.tls !== 'none',
  ),
  web,
]

/** An option that names a file of a port. */
export interface TlsFileOption {
  readonly port: TlsPort
  readonly file: 'cert' | 'key' | 'ca'
  readonly option: PemOption
}

export const tlsFileOptions: readonly TlsFileOption[] = tlsPorts.flatMap(
  (row): readonly TlsFileOption[] => [
    { port: row.name, file: 'cert', option: `${row.name}TlsCert` },
    { port: row.name, file: 'key', option: `${row.name}TlsKey` },
    ...(row.tls === 'clients'
      ? [{ port: row.name, file: 'ca', option: `${row.name}TlsCa` } as const]
      : []),
  ],
)

/** An option whose file a reload reads again. */
function pemFile(help: string, shownFallback?: string): Setting<string | undefined> {
  const file = optional('file', text('the path of a PEM file'), shownFallback)
  return { ...file, help, reloads: true }
}

/** TLS on the ports. */
export const tlsOptions = inGroup(
  'Doors',
  Object.fromEntries(
    tlsPorts.flatMap(({ name, title, tls }): [string, unknown][] => [
      ...certificateRows(name, title),
      ...(tls === 'clients' ? clientRows(name, title) : []),
    ]),
  ) as unknown as TlsOptionRows,
)

function certificateRows(name: string, title: string): [string, unknown][] {
  const cert = `certificate (PEM, with its chain) that makes the ${title} port speak TLS`
  return [
    [`${name}TlsCert`, pemFile(cert, 'no TLS')],
    [`${name}TlsKey`, pemFile('private key of that certificate (PEM, without a passphrase)')],
  ]
}

function clientRows(name: string, title: string): [string, unknown][] {
  const ca = pemFile(
    'authorities (PEM) for client certificates; all others are refused',
    'clients are asked for no certificate',
  )
  const verify = { ...yesNo, help: `refuse ${title} clients without a certificate` }
  return [
    [`${name}TlsCa`, ca],
    [`${name}TlsVerifyClients`, verify],
  ]
}
