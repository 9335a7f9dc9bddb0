import { createReadStream } from 'node:fs'
import type { Readable } from 'node:stream'
import { createGunzip } from 'node:zlib'

const lineFeed = 0x0a
const chunkBytes = 1024 * 1024

/** True for a name of a compressed file. */
export function isCompressed(path: string): boolean {
  return path.endsWith('.gz')
}

/** The lines of a file from a byte on, without their ends; in a compressed file bytes are counted uncompressed. */
export async function* readLines(path: string, start = 0): AsyncGenerator<Buffer> {
  let pieces: Buffer[] = []
  for await (const chunk of bytesOf(path, start)) {
    let from = 0
    for (let end = chunk.indexOf(lineFeed); end >= 0; end = chunk.indexOf(lineFeed, from)) {
      pieces.push(chunk.subarray(from, end))
      yield pieces.length === 1 ? (pieces[0] ?? chunk) : Buffer.concat(pieces)
      pieces = []
      from = end + 1
    }
    if (from < chunk.length) pieces.push(chunk.subarray(from))
  }
  if (pieces.length > 0) yield Buffer.concat(pieces)
}

async function* bytesOf(path: string, start: number): AsyncGenerator<Buffer> {
  if (!isCompressed(path)) {
    yield* createReadStream(path, { start, highWaterMark: chunkBytes }) as AsyncIterable<Buffer>
    return
  }
  const file = createReadStream(path, { highWaterMark: chunkBytes })
  const plain = createGunzip({ chunkSize: chunkBytes })
  file.on('error', (error) => plain.destroy(error))
  file.pipe(plain)
  let skip = start
  for await (const chunk of plain as Readable as AsyncIterable<Buffer>) {
    const rest = chunk.subarray(Math.min(skip, chunk.length))
    skip -= chunk.length - rest.length
    if (rest.length > 0) yield rest
  }
}
