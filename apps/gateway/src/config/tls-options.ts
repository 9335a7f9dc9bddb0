import { optional, row, text, yesNo } from './value-kinds.ts'

const pemFile = optional(text('the path of a PEM file'))

/** TLS on the Gearman and Faktory ports. */
export const tlsOptions = {
  gearmanTlsCert: row({
    group: 'Doors',
    argument: 'file',
    help: 'certificate (PEM, with its chain) that makes the Gearman port speak TLS',
    value: pemFile,
    fallback: undefined,
    shownFallback: 'no TLS',
    reloads: true,
  }),
  gearmanTlsKey: row({
    group: 'Doors',
    argument: 'file',
    help: 'private key of that certificate (PEM, without a passphrase)',
    value: pemFile,
    fallback: undefined,
    shownFallback: 'none',
    reloads: true,
  }),
  gearmanTlsCa: row({
    group: 'Doors',
    argument: 'file',
    help: 'authorities (PEM) for client certificates; all others are refused',
    value: pemFile,
    fallback: undefined,
    shownFallback: 'clients are asked for no certificate',
    reloads: true,
  }),
  gearmanTlsVerifyClients: row({
    group: 'Doors',
    argument: 'yes|no',
    help: 'refuse Gearman clients without a certificate',
    value: yesNo(),
    fallback: false,
    shownFallback: 'no',
  }),
  faktoryTlsCert: row({
    group: 'Doors',
    argument: 'file',
    help: 'certificate (PEM, with its chain) that makes the Faktory port speak TLS',
    value: pemFile,
    fallback: undefined,
    shownFallback: 'no TLS',
    reloads: true,
  }),
  faktoryTlsKey: row({
    group: 'Doors',
    argument: 'file',
    help: 'private key of that certificate (PEM, without a passphrase)',
    value: pemFile,
    fallback: undefined,
    shownFallback: 'none',
    reloads: true,
  }),
} as const satisfies Record<string, unknown>
