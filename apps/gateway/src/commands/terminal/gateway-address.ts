import { anyHost } from '../../doors/net/addresses.ts'
import { type ConfigSources, loadOptions } from '../../config/load-config.ts'
import { flagOf, type OptionName } from '../../config/options.ts'
import { readAuthorities } from '../../doors/net/tls.ts'
import { caVariable, urlVariable, userVariable } from '../../config/unknown-variables.ts'
import { TerminalError } from './terminal-error.ts'

/** The address of a gateway, and who asks it. */
export interface GatewayAddress {
  /** Without a slash at its end. */
  readonly url: string
  readonly password?: string
  /** The person whose password it is. None: the operator's or the reader's. */
  readonly user?: string
  /** PEM: authorities of its certificate, or that certificate itself. Those that Node knows. */
  readonly trusted?: Buffer
}

/** A gateway in the words of a command. */
interface NamedGateway {
  readonly url: string | undefined
  readonly user: string | undefined
  readonly ca: string | undefined
}

/** Options of the gateway that say where it is and what its password is. */
export const addressOptions = ['webPassword', 'config'] as const satisfies OptionName[]

/** Addresses that stand for all of a machine's. */
const everyAddress: ReadonlySet<string> = new Set([anyHost, '0.0.0.0', '::'])

/**
 * The gateway that `--url` or the variable names, else the one on this machine with the same options.
 *
 * @throws TerminalError, StartError
 */
export function gatewayAddress(
  { url, user, ca }: NamedGateway,
  { flags, env }: ConfigSources,
  withPassword: boolean,
): GatewayAddress {
  const named = url ?? (env[urlVariable] || undefined)
  const name = withPassword ? user || env[userVariable] || undefined : undefined
  const secrets = withPassword ? (['webPassword', 'webReaderPassword'] as const) : []
  const {
    host,
    webHost = host,
    webPort,
    webPassword,
    webReaderPassword,
    webTlsCert,
  } = loadOptions(['host', 'webHost', 'webPort', 'webTlsCert', 'config', ...secrets], {
    flags,
    env,
  })
  const password = webPassword ?? webReaderPassword
  const found =
    named === undefined ? ownUrl(webHost, webPort, webTlsCert !== undefined) : checkedUrl(named)
  if (name?.includes(':')) {
    throw new TerminalError('usage', 'The name of --user has a colon: give that of a person.')
  }
  if (name !== undefined && password === undefined) {
    const advice = 'give it with --web-password or CROSSGEAR_WEB_PASSWORD'
    throw new TerminalError('usage', `The password of ${name} is missing: ${advice}.`)
  }
  return {
    url: found,
    ...(password !== undefined && { password }),
    ...(name !== undefined && { user: name }),
    ...(found.startsWith('https:') &&
      trustedBy(ca, env[caVariable], named === undefined ? webTlsCert : undefined)),
  }
}

/** The first file that is given. */
function trustedBy(
  ca: string | undefined,
  variable: string | undefined,
  ownCert: string | undefined,
): Pick<GatewayAddress, 'trusted'> {
  if (ca !== undefined) return { trusted: readAuthorities(ca, '--ca') }
  if (variable) return { trusted: readAuthorities(variable, caVariable) }
  return ownCert === undefined ? {} : { trusted: readAuthorities(ownCert, flagOf('webTlsCert')) }
}

function ownUrl(host = '', port: number | 'off' = 'off', isSecure = false): string {
  if (port === 'off') {
    throw new TerminalError('usage', 'The web port is off: name a gateway with --url.')
  }
  const name = everyAddress.has(host) ? '127.0.0.1' : host
  return `${isSecure ? 'https' : 'http'}://${name.includes(':') ? `[${name}]` : name}:${port}`
}

function checkedUrl(text: string): string {
  const advice = 'give http://host:port or https://host:port, and a password by --web-password'
  if (!URL.canParse(text)) {
    throw new TerminalError('usage', `The address of the gateway is not a URL: ${advice}.`)
  }
  const { protocol, username, password, search, hash, href } = new URL(text)
  const isHttp = protocol === 'http:' || protocol === 'https:'
  if (!isHttp || username + password + search + hash !== '') {
    throw new TerminalError('usage', `The address of the gateway is invalid: ${advice}.`)
  }
  return href.replace(/\/+$/, '')
}
