import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { folderFailure } from '../../src/store/folder-failure.ts'
import { storePassword } from '../../src/store/store-password.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

test.each(['ENOSPC', 'EDQUOT'])(
  'a folder on a disk without room (%s) is told as that, and no file of it is blamed',
  (code) => {
    const failure = folderFailure('/data', Object.assign(new Error('no room'), { code }))
    expect(failure.message).toBe(
      `No space is left on the disk of /data (${code}): free some, or choose another with --data-dir or CROSSGEAR_DATA_DIR.`,
    )
    expect(failure.exitCode).toBe(1)
  },
)

test('a password file that cannot be read is to be corrected, and no draft of one stays behind', async () => {
  const folder = await temporaryFolder()
  await mkdir(join(folder, 'store.password'))
  await expect(storePassword(join(folder, 'store.password'))).rejects.toThrow(
    /^The password file \S+ cannot be used \(EISDIR\): correct or remove it\.$/,
  )
  expect(await readdir(folder)).toEqual(['store.password'])
  const path = join(folder, 'another')
  await writeFile(path, 'a-password-of-mine\n')
  expect(await storePassword(path)).toBe('a-password-of-mine')
  expect(await readFile(path, 'utf8')).toBe('a-password-of-mine\n')
})
