import * as net from 'node:net'
import { getSystemErrorName } from 'node:util'
import type { Config } from '../config/load-config.ts'
import { type BindAddress, bindAddresses } from '../net/addresses.ts'
import { type InheritedSockets, socketNames } from '../net/inherited-sockets.ts'
import { absentCodes, type ListenAddress, listenError } from '../net/listen.ts'

/** A socket that is bound here; others listen on it. */
export interface BoundSocket {
  readonly fd: number
  getsockname(address: { port: number }): number
  close(): void
}

/** A socket for several processes, by its name in LISTEN_FDNAMES. */
export interface SharedSocket extends Pick<BoundSocket, 'fd'> {
  readonly name: (typeof socketNames)[number]
}

/** Binds without listening, as node:cluster does for its workers: Node documents no other way. */
const { _createServerHandle: bindSocket } = net as unknown as {
  readonly _createServerHandle: (
    ...where: [host: string, port: number, family: 4 | 6, fd: undefined, flags: number]
  ) => BoundSocket | number
}
const ipv6OnlyFlag = 1

/**
 * The sockets of all ports. What was not handed over is bound, and put into `bound`.
 *
 * @throws StartError (code 1) if a port cannot be bound.
 */
export async function bindPorts(
  config: Config,
  inherited: InheritedSockets,
  bound: BoundSocket[],
): Promise<readonly SharedSocket[]> {
  const sockets: SharedSocket[] = []
  for (const name of socketNames) {
    const flag = `--${name}-port`
    const port = config[`${name}Port`]
    const handed = inherited.get(flag)
    for (const fd of handed ?? []) sockets.push({ name, fd })
    // Each process has a web port of its own.
    if (handed || port === 'off' || name === 'web') continue
    const own = await bindAll({ host: config.host, port }, flag)
    bound.push(...own)
    sockets.push(...own.map(({ fd }) => ({ name, fd })))
  }
  return sockets
}

/** As `listenOnAll`, without listening. */
async function bindAll(wanted: ListenAddress, flag: string): Promise<readonly BoundSocket[]> {
  const where = { ...wanted }
  const results = (await bindAddresses(wanted.host)).map((address) => bind(address, where))
  const bound = results.filter((result) => typeof result !== 'number')
  const codes = results.flatMap((result) =>
    typeof result === 'number' ? getSystemErrorName(result) : [],
  )
  const code = codes.find((one) => !absentCodes.has(one) || bound.length === 0)
  if (code === undefined) return bound
  throw listenError(Object.assign(new Error(code), { code }), where, flag)
}

/** Binds one address, and gives the others its port; a number says why it cannot. */
function bind({ host, ipv6Only }: BindAddress, where: { port: number }): BoundSocket | number {
  const flags = ipv6Only ? ipv6OnlyFlag : 0
  const socket = bindSocket(host, where.port, net.isIPv6(host) ? 6 : 4, undefined, flags)
  if (typeof socket === 'number') return socket
  // Reading its name also fails if the port is in use.
  return socket.getsockname(where) || socket
}
