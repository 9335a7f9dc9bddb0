import { type DoorRows, doors } from '../doors/table.ts'
import { inGroup, optional, type Setting, text, yesNo } from './value-kinds.ts'

/** Doors whose ports can speak TLS, and of these the ones that can ask clients for a certificate. */
export type TlsDoor = Exclude<DoorRows, { readonly tls: 'none' }>['name']
type ClientTlsDoor = Extract<DoorRows, { readonly tls: 'clients' }>['name']

type PemOption = `${TlsDoor}TlsCert` | `${TlsDoor}TlsKey` | `${ClientTlsDoor}TlsCa`
type TlsOptionRows = Readonly<Record<PemOption, Setting<string | undefined>>> &
  Readonly<Record<`${ClientTlsDoor}TlsVerifyClients`, Setting<boolean>>>

/** An option that names a file of a door. */
export interface TlsFileOption {
  readonly door: TlsDoor
  readonly file: 'cert' | 'key' | 'ca'
  readonly option: PemOption
}

export const tlsFileOptions: readonly TlsFileOption[] = doors.flatMap(
  (door): readonly TlsFileOption[] => {
    if (door.tls === 'none') return []
    return [
      { door: door.name, file: 'cert', option: `${door.name}TlsCert` },
      { door: door.name, file: 'key', option: `${door.name}TlsKey` },
      ...(door.tls === 'clients'
        ? [{ door: door.name, file: 'ca', option: `${door.name}TlsCa` } as const]
        : []),
    ]
  },
)

/** An option whose file a reload reads again. */
function pemFile(help: string, shownFallback?: string): Setting<string | undefined> {
  const file = optional('file', text('the path of a PEM file'), shownFallback)
  return { ...file, help, reloads: true }
}

/** TLS on the ports of doors. */
export const tlsOptions = inGroup(
  'Doors',
  Object.fromEntries(
    doors.flatMap(({ name, title, tls }): [string, unknown][] => [
      ...(tls === 'none' ? [] : certificateRows(name, title)),
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
