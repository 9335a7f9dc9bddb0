import { randomBytes } from 'node:crypto'
import {
  auditBounds,
  type AuditEntry,
  type AuditStore,
  type KeptRecords,
  StoreError,
} from '@crossgear/core-scheduler'
import { ContextPart } from './connection/context-part.ts'

const sessionKeyBytes = 32
/** A list has records; a text says that they were put back. */
const kinds: Readonly<Record<string, KeptRecords['kind']>> = { list: 'kept', string: 'undone' }

type StreamEntry = readonly [id: string, fields: readonly string[]]

/** The store port's part for who did what. */
export class RedisAudit extends ContextPart implements AuditStore {
  /** The key as it was read: it does not change. */
  #sessionKey: Buffer | undefined

  async add(text: string): Promise<string> {
    const { redis, keys, call } = this.context
    const { entries } = auditBounds
    const id = await call(() => redis.xadd(keys.audit, 'MAXLEN', '~', entries, '*', 'entry', text))
    return id ?? ''
  }

  async addPiece(
    act: string,
    textOf: (before?: AuditEntry) => string | undefined,
  ): Promise<string | undefined> {
    const { redis, run, keys, call } = this.context
    const { entries, pieceMs } = auditBounds
    for (;;) {
      const known = (await call(() => redis.get(keys.act(act)))) ?? ''
      const before = known === '' ? undefined : await this.find(known)
      const text = textOf(before)
      if (text === undefined) return undefined
      const args = [known, text, entries, pieceMs]
      const id = String(await run('note-piece', [keys.audit, keys.act(act)], args))
      if (id !== '') return id
    }
  }

  async list(
    count: number,
    after?: string,
    order: 'asc' | 'desc' = 'desc',
  ): Promise<readonly AuditEntry[]> {
    const { redis, keys, call } = this.context
    const from = after === undefined ? undefined : `(${after}`
    const found = await call(() =>
      order === 'asc'
        ? redis.xrange(keys.audit, from ?? '-', '+', 'COUNT', count)
        : redis.xrevrange(keys.audit, from ?? '+', '-', 'COUNT', count),
    )
    return found.map(entryOf)
  }

  async find(id: string): Promise<AuditEntry | undefined> {
    const { redis, keys, call } = this.context
    const [found] = await call(() => redis.xrange(keys.audit, id, id))
    return found && entryOf(found)
  }

  async keep(act: string, records: readonly string[]): Promise<boolean> {
    const { run, keys } = this.context
    const { keptMs, keptActs, keptBytes } = auditBounds
    const args = [keptMs, keptActs, keptBytes, act, ...records]
    return (await run('keep-records', [keys.kept, keys.keptOf(act)], args)) === 1
  }

  async kept(act: string): Promise<KeptRecords> {
    const { redis, keys, call } = this.context
    const [kind = 'none'] = await this.keptKinds([act])
    if (kind !== 'kept') return { kind }
    return { kind, records: await call(() => redis.lrange(keys.keptOf(act), 0, -1)) }
  }

  async keptKinds(acts: readonly string[]): Promise<readonly KeptRecords['kind'][]> {
    const { pipeline, keys } = this.context
    if (acts.length === 0) return []
    const types = await pipeline((commands) => {
      for (const act of acts) commands.type(keys.keptOf(act))
    })
    return types.map((type) => kinds[String(type)] ?? 'none')
  }

  async undone(act: string): Promise<void> {
    const { redis, keys, call } = this.context
    await call(() => redis.set(keys.keptOf(act), 'undone', 'PX', auditBounds.keptMs))
  }

  async sessionKey(): Promise<Buffer> {
    if (this.#sessionKey) return this.#sessionKey
    const { redis, keys, call } = this.context
    await call(() => redis.setnx(keys.sessionKey, randomBytes(sessionKeyBytes).toString('hex')))
    const key = Buffer.from((await call(() => redis.get(keys.sessionKey))) ?? '', 'hex')
    if (key.length !== sessionKeyBytes) throw new StoreError('REFUSED', 'it has no session key')
    this.#sessionKey = key
    return key
  }
}

function entryOf([id, fields]: StreamEntry): AuditEntry {
  return { id, text: fields[1] ?? '' }
}
