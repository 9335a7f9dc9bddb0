import { type DoorRows, doors } from '../doors/table.ts'
import { optional, type OptionRow, row, text, yesNo } from './value-kinds.ts'

/** Doors whose ports can speak TLS, and of these the ones that can ask clients for a certificate. */
export type TlsDoor = Exclude<DoorRows, { readonly tls: 'none' }>['name']
type ClientTlsDoor = Extract<DoorRows, { readonly tls: 'clients' }>['name']

type PemOption = `${TlsDoor}TlsCert` | `${TlsDoor}TlsKey` | `${ClientTlsDoor}TlsCa`
type TlsOptionRows = Readonly<Record<PemOption, OptionRow<string | undefined>>> &
  Readonly<Record<`${ClientTlsDoor}TlsVerifyClients`, OptionRow<boolean>>>

const pemFile = {
  group: 'Doors',
  argument: 'file',
  value: optional(text('the path of a PEM file')),
  fallback: undefined,
  reloads: true,
} as const

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

/** TLS on the ports of doors. */
export const tlsOptions = Object.fromEntries(
  doors.flatMap(({ name, title, tls }): [string, unknown][] => [
    ...(tls === 'none' ? [] : certificateRows(name, title)),
    ...(tls === 'clients' ? clientRows(name, title) : []),
  ]),
) as unknown as TlsOptionRows

function certificateRows(name: string, title: string): [string, unknown][] {
  const cert = row({
    ...pemFile,
    help: `certificate (PEM, with its chain) that makes the ${title} port speak TLS`,
    shownFallback: 'no TLS',
  })
  const key = row({
    ...pemFile,
    help: 'private key of that certificate (PEM, without a passphrase)',
    shownFallback: 'none',
  })
  return [
    [`${name}TlsCert`, cert],
    [`${name}TlsKey`, key],
  ]
}

function clientRows(name: string, title: string): [string, unknown][] {
  const ca = row({
    ...pemFile,
    help: 'authorities (PEM) for client certificates; all others are refused',
    shownFallback: 'clients are asked for no certificate',
  })
  const verify = row({
    group: 'Doors',
    argument: 'yes|no',
    help: `refuse ${title} clients without a certificate`,
    value: yesNo(),
    fallback: false,
    shownFallback: 'no',
  })
  return [
    [`${name}TlsCa`, ca],
    [`${name}TlsVerifyClients`, verify],
  ]
}
