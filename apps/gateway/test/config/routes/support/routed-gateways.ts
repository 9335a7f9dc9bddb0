import { randomUUID } from 'node:crypto'
import type { FwpClient } from '../../../doors/faktory/support/fwp-client.ts'
import { background } from '../../../doors/http/support/http-client.ts'
import { configFile } from '../../../support/temporary-folder.ts'
import { type ComposedGateway, openOnRedis } from '../../options/composed-gateway.ts'

/** Gateways on one Redis, each with a file of these tables. */
export function routedGateways() {
  const { open, redis } = openOnRedis({ isEmptied: true })
  return {
    redis,
    open: async (tables: string): Promise<ComposedGateway> =>
      open({ config: await configFile(tables) }),
  }
}

/** Pushes a job to a Faktory port; the answer. */
export function push(client: FwpClient, jobtype: string, more: object = {}): Promise<string> {
  return client.push(randomUUID(), { jobtype, ...more })
}

/** Posts a background job to the HTTP port. */
export function post(gateway: ComposedGateway, fn: string, body = ''): Promise<Response> {
  const url = `http://127.0.0.1:${gateway.port('http')}/${fn}`
  return fetch(url, { method: 'POST', headers: background, body })
}
