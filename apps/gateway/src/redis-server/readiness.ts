import { setTimeout as delay } from 'node:timers/promises'
import type { Logger } from '../ops/log/logger.ts'
import type { RespConnection } from './resp-connection.ts'
import { RespError } from './resp-reply.ts'

const LOOK_AGAIN_MS = 50

/** Waits while the server reads its data from disk (which it does before it takes commands), unless aborted. */
export async function waitUntilLoaded(
  connection: RespConnection,
  log: Logger,
  signal?: AbortSignal,
): Promise<void> {
  let said = false
  for (;;) {
    try {
      await connection.command('PING')
      return
    } catch (error) {
      if (!(error instanceof RespError && error.word === 'LOADING')) throw error
      if (!said) log.info('The store is reading its data; the doors open when it has.')
      said = true
      await delay(LOOK_AGAIN_MS, undefined, { ...(signal && { signal }) })
    }
  }
}

/** The fields of `INFO <section>`; empty where the login may not ask. */
export async function readInfo(
  connection: RespConnection,
  section: string,
): Promise<ReadonlyMap<string, string>> {
  let text: unknown
  try {
    text = await connection.command('INFO', section)
  } catch (error) {
    if (error instanceof RespError) return new Map()
    throw error
  }
  const lines = typeof text === 'string' ? text.split('\r\n') : []
  return new Map(
    lines.map((line) => {
      const colon = line.indexOf(':')
      return [line.slice(0, colon), line.slice(colon + 1)]
    }),
  )
}

/** `Redis 7.0.15`, `Valkey 8.1.1`. */
export async function nameServer(connection: RespConnection): Promise<string> {
  const info = await readInfo(connection, 'server')
  const valkey = info.get('valkey_version')
  if (valkey !== undefined) return `Valkey ${valkey}`
  return `Redis ${info.get('redis_version') ?? '(version unknown)'}`
}
