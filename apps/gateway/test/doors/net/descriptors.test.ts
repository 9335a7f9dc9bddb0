import { writeFile } from 'node:fs/promises'
import { expect, test } from 'vitest'
import { Descriptors, openFilesLimit } from '../../../src/doors/net/descriptors.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'

test('connections leave files for the store and the web port: a quarter of a small limit, at most 1,500', () => {
  const most = [64, 1_024, 65_536, Infinity].map((limit) => new Descriptors(limit).max)
  expect(most).toEqual([48, 768, 64_036, Infinity])
})

test('none is left once all are taken, until one is given back', () => {
  const descriptors = new Descriptors(4)
  for (let taken = 0; taken < 3; taken += 1) descriptors.take()
  expect(descriptors.isEmpty).toBe(true)
  descriptors.giveBack()
  expect(descriptors.isEmpty).toBe(false)
})

test('the limit is the soft one of the process, and any number where the system does not say', async () => {
  const path = `${await temporaryFolder()}/limits`
  await writeFile(
    path,
    'Max processes  7  8  processes\nMax open files            1024                 524288               files\n',
  )
  expect(openFilesLimit(path)).toBe(1_024)
  expect(openFilesLimit(`${path}.none`)).toBe(Infinity)
})
