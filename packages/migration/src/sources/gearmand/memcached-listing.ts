import { setTimeout as delay } from 'node:timers/promises'
import { MemcachedConnection } from './memcached-connection.ts'

/** Attempts to get a listing, 200 ms apart. */
const listingAttempts = 25

/** A key as `lru_crawler metadump` lists it, and the bytes of its item. */
export interface Listed {
  readonly key: Buffer
  readonly bytes: number
}

/** All keys of a server, over a connection of their own. */
export async function* listKeys(
  host: string,
  port: number,
): AsyncGenerator<Listed | undefined, undefined> {
  for (let attempt = 1; ; attempt += 1) {
    const connection = await MemcachedConnection.open(host, port)
    try {
      connection.send('lru_crawler metadump all\r\n')
      let line = await connection.line()
      // The server sometimes walks its keys itself.
      if (line.startsWith('BUSY') && attempt < listingAttempts) {
        await delay(200)
        continue
      }
      for (; line !== 'END'; line = await connection.line()) {
        if (!line.startsWith('key=')) throw new Error(`the server says ${line}`)
        yield listedOf(line)
      }
      return undefined
    } finally {
      connection.close()
    }
  }
}

/** A line like `key=gear_mail-u1 exp=-1 la=1795318444 cas=3 fetch=no cls=1 size=75`. */
function listedOf(line: string): Listed | undefined {
  const [, key, size] = /^key=(\S+) .*\bsize=(\d+)/.exec(line) ?? []
  if (key === undefined) return undefined
  const bytes = key.replaceAll(/%([0-9A-Fa-f]{2})/g, (_all, hex: string) =>
    String.fromCharCode(Number.parseInt(hex, 16)),
  )
  return { key: Buffer.from(bytes, 'latin1'), bytes: Number(size) }
}
