import type { IncomingMessage } from 'node:http'
import { isLoopback } from './addresses.ts'
import { hostOf } from './foreign-requests.ts'

/** Headers of proxies: behind one the connection's address is the proxy's. */
const ofProxy = /^(?:forwarded|via|x-forwarded(?:-.*)?|x-real-ip)$/

/** The parts of a request that tell where it comes from. */
export type Origin = Pick<IncomingMessage, 'headersDistinct' | 'socket'>

/** True if a program on this machine sent the request to this machine, through no proxy. */
export function isLocal({ headersDistinct, socket }: Origin): boolean {
  const { host: hosts = [] } = headersDistinct
  return (
    isLoopback(socket.remoteAddress ?? '') &&
    hosts.length > 0 &&
    hosts.every(namesLoopback) &&
    !Object.keys(headersDistinct).some((name) => ofProxy.test(name))
  )
}

function namesLoopback(header: string): boolean {
  const host = hostOf(header)
  return isLoopback(host) || host === 'localhost' || host.endsWith('.localhost')
}
