import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { usersOf } from '../../src/sources/gearmand/sqlite-file.ts'

let folder: string
let file: string

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'xg-users-'))
  file = join(folder, 'queue.sqlite')
  writeFileSync(file, '')
})
afterEach(() => rmSync(folder, { recursive: true }))

/** A process as the system shows it. `files`: undefined where it hides them. */
function addProcess(pid: number, command: string, files?: readonly string[]): void {
  const own = join(folder, 'proc', String(pid))
  mkdirSync(own, { recursive: true })
  writeFileSync(join(own, 'cmdline'), command)
  if (!files) writeFileSync(join(own, 'fd'), 'no folder: it cannot be listed')
  else {
    mkdirSync(join(own, 'fd'))
    for (const [at, path] of files.entries()) symlinkSync(path, join(own, 'fd', String(at)))
  }
}

const users = () => usersOf(file, join(folder, 'proc'))

test('all who have the file open are found where every process shows its files', async () => {
  addProcess(1, 'init', [])
  addProcess(7, 'gearmand', ['/dev/null', file])
  addProcess(8, 'cat', ['/dev/null'])
  expect(await users()).toEqual({ pids: [7] })
})

test('a process that hides its files may have it open; a thread of the kernel has none', async () => {
  addProcess(1, 'init', [])
  addProcess(2, '')
  expect(await users()).toEqual({ pids: [] })
  addProcess(7, 'gearmand')
  expect(await users()).toEqual({
    pids: [],
    unseen: '1 processes of other users do not show what they have open',
  })
})

test('where a system hides the processes of others, or shows none, nothing is known', async () => {
  const unseen = 'this system does not show the processes of other users'
  expect(await users()).toEqual({ pids: [], unseen })
  addProcess(7, 'cat', [])
  expect(await users()).toEqual({ pids: [], unseen })
})
