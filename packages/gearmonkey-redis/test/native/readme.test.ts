import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { gearMonkeyErrors } from '../../src/index.ts'

test('the README lists exactly the errors that exist', () => {
  const readme = readFileSync(new URL('../../README.md', import.meta.url), 'utf8')
  const rows = [...readme.matchAll(/^\| `([A-Z_]+)` +\| (.+?) +\|$/gm)]
  expect(Object.fromEntries(rows.map(([, code, meaning]) => [code, meaning]))).toEqual(
    gearMonkeyErrors,
  )
})
