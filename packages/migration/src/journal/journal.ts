import { createReadStream } from 'node:fs'
import { type FileHandle, open, realpath } from 'node:fs/promises'
import { MigrationError, reaching } from '../errors.ts'
import type { Ledger } from '../target.ts'
import { type IdState, IdTable } from './id-table.ts'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:net'

const head = 'crossgear-journal 1'
/** 17 bytes each in memory, some 70 in the file. */
const maxJobs = 5_000_000

/** One letter per state, and one that removes a state. */
const letters: Readonly<Record<string, IdState>> = { s: 'sent', d: 'taken', f: 'forgotten' }
const letterOf: Readonly<Record<IdState, string>> = { sent: 's', taken: 'd', forgotten: 'f' }
const allMoved = 'm'

/** The subject of a journal. */
export interface JournalOf {
  readonly name: string
  /** The address of the target without its password. */
  readonly target: string
}

/**
 * A file for notes on jobs sent to a server that keeps none, one line each: `s` before import ids are sent, `d` when the
 * target has them, `f` when it has not, `p` before progress. A torn last line is ignored.
 */
export class Journal implements Ledger {
  readonly #path: string
  readonly #file: FileHandle
  readonly #unlock: () => void
  readonly #ids = new IdTable()
  readonly #progress: Record<string, string> = {}

  private constructor(path: string, file: FileHandle, unlock: () => void) {
    this.#path = path
    this.#file = file
    this.#unlock = unlock
  }

  /**
   * Opens or creates a journal. Throws a MigrationError if it is in use, or about something else.
   */
  static open(path: string, about: JournalOf): Promise<Journal> {
    return reaching(path, async () => {
      const file = await open(path, 'a', 0o600)
      let unlock: (() => void) | undefined
      try {
        unlock = await lockJournal(path)
        const journal = new Journal(path, file, unlock)
        await journal.#load(about)
        return journal
      } catch (error) {
        unlock?.()
        await file.close()
        throw error
      }
    })
  }

  /** Undefined, or `forgotten`: the target can have nothing of it. */
  stateOf(importId: Buffer): IdState | undefined {
    return this.#ids.get(importId)
  }

  /** Notes jobs. `sent` is on disk when it settles, so before anything is sent. */
  async note(state: IdState, importIds: readonly Buffer[]): Promise<void> {
    if (importIds.length === 0) return
    if (this.#ids.size + importIds.length > maxJobs) {
      throw new MigrationError('USAGE', `The journal ${this.#path} has ${maxJobs} jobs: begin one.`)
    }
    const ids = importIds.map((id) => id.toString('hex')).join()
    await this.#write(`${letterOf[state]} ${ids}`)
    if (state === 'sent') await this.#file.datasync()
    for (const id of importIds) this.#ids.set(id, state)
  }

  /** Notes that the source no longer has any of the jobs that the target has. */
  async noteAllMoved(): Promise<void> {
    await this.#write(allMoved)
    this.#ids.replaceAll('taken', 'forgotten')
  }

  progress(): Promise<Readonly<Record<string, string>>> {
    return Promise.resolve(this.#progress)
  }

  async saveProgress(_name: string, fields: Readonly<Record<string, string>>): Promise<void> {
    await this.#write(`p ${JSON.stringify(fields)}`)
    Object.assign(this.#progress, fields)
  }

  async close(): Promise<void> {
    await this.#file.datasync()
    await this.#file.close()
    this.#unlock()
  }

  #write(line: string): Promise<void> {
    return reaching(this.#path, () => this.#file.appendFile(`${line}\n`))
  }

  async #load(about: JournalOf): Promise<void> {
    const expected = `${head} ${JSON.stringify({ name: about.name, target: about.target })}`
    let rest = ''
    let bytes = 0
    let lines = 0
    for await (const chunk of createReadStream(this.#path, 'latin1') as AsyncIterable<string>) {
      const pieces = (rest + chunk).split('\n')
      rest = pieces.pop() ?? ''
      for (const line of pieces) {
        if (lines === 0 && line !== expected) this.#isOther(line)
        else if (lines > 0) this.#read(line)
        lines += 1
        bytes += line.length + 1
      }
    }
    if (rest !== '') {
      // A file that is not a journal is never truncated.
      if (lines === 0 && !expected.startsWith(rest)) this.#isOther(rest)
      await this.#file.truncate(bytes)
    }
    if (lines === 0) await this.#write(expected)
  }

  #isOther(line: string): never {
    const what = line.startsWith(head)
      ? `of another migration: ${line.slice(head.length + 1)}`
      : 'no journal'
    throw new MigrationError('USAGE', `${this.#path} is ${what}. Give another --journal.`)
  }

  #read(line: string): void {
    const letter = line[0] ?? ''
    const state = letters[letter]
    if (state) {
      for (const id of line.slice(2).split(',')) this.#ids.set(Buffer.from(id, 'hex'), state)
    } else if (letter === 'p') {
      const fields = JSON.parse(line.slice(2)) as Record<string, string>
      Object.assign(this.#progress, fields)
    } else if (line === allMoved) this.#ids.replaceAll('taken', 'forgotten')
    else throw new Error(`a line of the journal cannot be read: ${line.slice(0, 40)}`)
  }
}

/**
 * Lets one process of this machine use a journal, which exists; returns what ends that. Throws a MigrationError if another has
 * it. Linux releases the name of such a socket with its process, however that ends; elsewhere there is no lock.
 */
async function lockJournal(path: string): Promise<() => void> {
  if (process.platform !== 'linux') return () => undefined
  const name = createHash('sha256')
    .update(await realpath(path))
    .digest('hex')
  const server = createServer((socket) => socket.destroy())
  server.unref()
  try {
    server.listen(`\0crossgear-journal-${name}`)
    await once(server, 'listening')
  } catch (error) {
    throw new MigrationError('USAGE', `The journal ${path} is in use by another run.`, {
      cause: error,
    })
  }
  return () => void server.close()
}
