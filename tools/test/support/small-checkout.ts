import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { onTestFinished } from 'vitest'
import type { PlantedFault } from '../../planted/planted-fault.ts'

const modules = fileURLToPath(new URL('../../../node_modules', import.meta.url))

/** A folder until the end of the test. */
export function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'xg-planted-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

/** A fault of the checkout. */
export const row: PlantedFault = {
  name: 'sum-is-a-difference',
  promise: 'A sum is a sum.',
  file: 'src/sum.ts',
  from: 'left + right',
  to: 'left - right',
  test: 'test/sum.test.ts',
}

/** A checkout of one project with two tests. */
export function newCheckout(): string {
  const checkout = newFolder()
  const files = {
    'package.json': '{ "type": "module" }',
    'vitest.config.ts': "export default { test: { include: ['test/*.test.ts'] } }",
    'tsconfig.build.json':
      '{ "compilerOptions": { "module": "nodenext", "rootDir": "src", "outDir": "dist", "noUnusedParameters": true, "types": [] }, "include": ["src"] }',
    'src/sum.ts':
      'export function sum(left: number, right: number): number {\n  return left + right\n}\n',
    'src/words.lua': 'return 1\n',
    'test/sum.test.ts': `import { expect, test } from 'vitest'
import { sum } from '../src/sum.ts'
test('two and two (in all)', () => { expect(sum(2, 2)).toBe(4) })
test('nothing', () => { sum(0, 0) })
`,
    'test/red.test.ts': `import { expect, test } from 'vitest'
test('always red', () => { expect(1).toBe(2) })
`,
  }
  for (const [file, text] of Object.entries(files)) {
    mkdirSync(dirname(join(checkout, file)), { recursive: true })
    writeFileSync(join(checkout, file), text)
  }
  mkdirSync(join(checkout, 'node_modules'))
  for (const name of readdirSync(modules))
    symlinkSync(join(modules, name), join(checkout, 'node_modules', name))
  execFileSync('git', ['init', '--quiet'], { cwd: checkout })
  writeFileSync(join(checkout, '.gitignore'), 'node_modules\n')
  return checkout
}
