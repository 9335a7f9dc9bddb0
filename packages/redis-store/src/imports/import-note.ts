/** The result of an import: see `lua/lib/imports.lua`. */
export type ImportNoteKind = 'created' | 'joined' | 'moved' | 'held'

/** The store's note on an imported job. */
export interface ImportNote {
  readonly importId: Buffer
  readonly kind: ImportNoteKind
  /** 4 bytes for the migration that brought it. */
  readonly tag: Buffer
  /** 8 bytes, the digest of its content at the source. */
  readonly digest: Buffer
  /** The id of the job in the lane. */
  readonly id: number
  /** The note as stored. */
  readonly value: Buffer
}

const kinds: Readonly<Record<string, ImportNoteKind>> = {
  c: 'created',
  j: 'joined',
  m: 'moved',
  h: 'held',
}

/** Parses a note: a letter, the tag, the digest, the id in decimal. */
export function noteOf(importId: Buffer, value: Buffer): ImportNote {
  return {
    importId,
    kind: kinds[value.toString('latin1', 0, 1)] ?? 'created',
    tag: value.subarray(1, 5),
    digest: value.subarray(5, 13),
    id: Number(value.toString('latin1', 13)),
    value,
  }
}
