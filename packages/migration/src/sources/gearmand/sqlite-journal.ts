import { open, unlink, type FileHandle } from 'node:fs/promises'

const magic = Buffer.from('d9d505f920a163d7', 'hex')
const headBytes = 28
const unknownCount = 0xffffffff
/** Every 200th byte of a page, from its end, is in its checksum. */
const checkedEvery = 200

/** The head of a segment of a journal. */
interface Segment {
  readonly records: number
  readonly nonce: number
  readonly databasePages: number
  readonly sectorBytes: number
  readonly pageBytes: number
}

/**
 * Rolls back the transaction of a program that died, if any, as SQLite does on opening and the driver does not. Format:
 * sqlite.org/fileformat2.html, "The Rollback Journal".
 */
export async function rollBack(path: string): Promise<void> {
  const journalPath = `${path}-journal`
  const journal = await open(journalPath, 'r').catch((error: unknown) => {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined
    throw error
  })
  if (!journal) return
  try {
    const first = await headAt(journal, 0)
    if (!first) return
    const database = await open(path, 'r+')
    try {
      await database.truncate(first.databasePages * first.pageBytes)
      await playBack(journal, database, first)
      await database.sync()
    } finally {
      await database.close()
    }
  } finally {
    await journal.close()
  }
  await unlink(journalPath)
}

async function playBack(journal: FileHandle, database: FileHandle, first: Segment): Promise<void> {
  const { sectorBytes, pageBytes, databasePages } = first
  const { size } = await journal.stat()
  const recordBytes = pageBytes + 8
  let at = 0
  for (;;) {
    const segment = at === 0 ? first : await headAt(journal, at)
    if (!segment) return
    at += sectorBytes
    const room = Math.floor((size - at) / recordBytes)
    const records = segment.records === unknownCount ? room : Math.min(room, segment.records)
    for (let record = 0; record < records; record += 1) {
      const bytes = await read(journal, at, recordBytes)
      const page = bytes.readUInt32BE(0)
      const data = bytes.subarray(4, 4 + pageBytes)
      // A page that was not written to its end was not needed yet.
      if (page === 0 || checksumOf(data, segment.nonce) !== bytes.readUInt32BE(4 + pageBytes))
        return
      if (page <= databasePages) await database.write(data, 0, pageBytes, (page - 1) * pageBytes)
      at += recordBytes
    }
    at = Math.ceil(at / sectorBytes) * sectorBytes
  }
}

/** Undefined if no segment begins here: the journal is finished, or ends. */
async function headAt(journal: FileHandle, at: number): Promise<Segment | undefined> {
  const bytes = await read(journal, at, headBytes)
  if (!bytes.subarray(0, magic.length).equals(magic)) return undefined
  const [records = 0, nonce = 0, databasePages = 0, sectorBytes = 0, pageBytes = 0] = [
    8, 12, 16, 20, 24,
  ].map((place) => bytes.readUInt32BE(place))
  const isSound = at > 0 || (sectorBytes >= 32 && pageBytes >= 512 && pageBytes <= 65_536)
  return isSound ? { records, nonce, databasePages, sectorBytes, pageBytes } : undefined
}

/** Zeros beyond the end of the file. */
async function read(file: FileHandle, at: number, length: number): Promise<Buffer> {
  const bytes = Buffer.alloc(length)
  await file.read(bytes, 0, length, at)
  return bytes
}

function checksumOf(page: Buffer, nonce: number): number {
  let sum = nonce
  for (let at = page.length - checkedEvery; at > 0; at -= checkedEvery) sum += page[at] ?? 0
  return sum >>> 0
}
