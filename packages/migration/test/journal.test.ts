import { createHash } from 'node:crypto'
import { appendFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { Journal } from '../src/journal/journal.ts'

const about = { name: 'old', target: 'gearman://127.0.0.1:4730' }

function idOf(at: number): Buffer {
  return createHash('sha256').update(String(at)).digest().subarray(0, 16)
}

describe('the journal of a run into a server that keeps no notes', () => {
  let folder: string
  let path: string

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'xg-journal-'))
    path = join(folder, 'journal')
  })
  afterEach(() => rmSync(folder, { recursive: true }))

  test('notes are known when it is reopened, for 100,000 jobs', async () => {
    const ids = Array.from({ length: 100_000 }, (_none, at) => idOf(at))
    const first = await Journal.open(path, about)
    for (let at = 0; at < ids.length; at += 1_000) {
      const some = ids.slice(at, at + 1_000)
      await first.note('sent', some)
      await first.note('taken', at === 99_000 ? some.slice(0, 998) : some)
    }
    await first.note('forgotten', ids.slice(0, 2))
    await first.saveProgress('old', { cursor: '7', state: 'running' })
    await first.close()
    const again = await Journal.open(path, about)
    const states = [0, 1, 2, 50_000, 99_997, 99_998, 99_999].map((at) => again.stateOf(idOf(at)))
    expect(states).toEqual(['forgotten', 'forgotten', 'taken', 'taken', 'taken', 'sent', 'sent'])
    expect(again.stateOf(idOf(100_000))).toBeUndefined()
    expect(await again.progress()).toEqual({ cursor: '7', state: 'running' })
    await again.noteAllMoved()
    expect([again.stateOf(idOf(2)), again.stateOf(idOf(99_999))]).toEqual(['forgotten', 'sent'])
    await again.close()
  })

  test('a line cut by a kill is ignored, and the notes after it are read', async () => {
    const first = await Journal.open(path, about)
    await first.note('sent', [idOf(1)])
    await first.note('taken', [idOf(1)])
    await first.close()
    appendFileSync(path, `s ${idOf(2).toString('hex').slice(0, 20)}`)
    const second = await Journal.open(path, about)
    expect([second.stateOf(idOf(1)), second.stateOf(idOf(2))]).toEqual(['taken', undefined])
    await second.note('sent', [idOf(3)])
    await second.close()
    const third = await Journal.open(path, about)
    expect([third.stateOf(idOf(1)), third.stateOf(idOf(3))]).toEqual(['taken', 'sent'])
    await third.close()
  })

  test('one run has it at a time, and it belongs to one migration', async () => {
    const first = await Journal.open(path, about)
    await expect(Journal.open(path, about)).rejects.toThrow('in use by another run')
    await first.close()
    await expect(Journal.open(path, { ...about, name: 'new' })).rejects.toThrow(
      'of another migration',
    )
    await expect(Journal.open(path, { ...about, target: 'faktory://x:1' })).rejects.toThrow(
      'of another migration',
    )
    await (await Journal.open(path, about)).close()
  })

  test('a file that is not a journal is refused and stays unchanged', async () => {
    for (const text of ['my letters', 'my letters\n', 'my letters\nand more']) {
      writeFileSync(path, text)
      await expect(Journal.open(path, about)).rejects.toThrow('is no journal')
      expect(readFileSync(path, 'utf8')).toBe(text)
    }
  })
})
