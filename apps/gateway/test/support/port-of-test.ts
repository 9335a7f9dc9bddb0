import type { Server } from 'node:net'
import { onTestFinished } from 'vitest'
import { listenOn } from '../../src/doors/net/listen.ts'

/** The port of a server that listens on this machine until the test ends. */
export async function portOfTest(server: Server, host = '127.0.0.1'): Promise<number> {
  onTestFinished(() => void server.close())
  return (await listenOn(server, { host, port: 0 }, '')).port
}
