import { execFileSync, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { parseWords } from '../planted/options.ts'
import type { PlantedFault } from '../planted/planted-fault.ts'
import { CheckoutCopy } from '../planted/run/checkout-copy.ts'
import { tryFaults } from '../planted/run/try-faults.ts'
import { misfitOf, readTable, repeatedNames } from '../planted/table.ts'
import { sampleOf } from '../testing/sample.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))
const planted = [
  '--conditions=@crossgear/source',
  '--import',
  import.meta.resolve('tsx'),
  join(root, 'tools/planted/main.ts'),
]

function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'xg-planted-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

describe('the table', () => {
  let faults: readonly PlantedFault[] = []
  beforeAll(async () => {
    faults = await readTable()
  })

  test('has rows that fit the sources', () => {
    const misfits = faults.map((fault) => [fault.name, misfitOf(fault, root)])
    expect(misfits.filter(([, misfit]) => misfit !== undefined)).toEqual([])
    expect(faults.length).toBeGreaterThan(0)
  })

  test('has names that are unique and in kebab-case', () => {
    expect(repeatedNames(faults)).toEqual([])
    expect(faults.filter(({ name }) => !/^[a-z\d]+(?:-[a-z\d]+)*$/.test(name))).toEqual([])
  })
})

const row: PlantedFault = {
  name: 'sum-is-a-difference',
  promise: 'A sum is a sum.',
  file: 'src/sum.ts',
  from: 'left + right',
  to: 'left - right',
  test: 'test/sum.test.ts',
}

/** A checkout of one project with two tests. */
function newCheckout(): string {
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
  const modules = join(root, 'node_modules')
  mkdirSync(join(checkout, 'node_modules'))
  for (const name of readdirSync(modules))
    symlinkSync(join(modules, name), join(checkout, 'node_modules', name))
  execFileSync('git', ['init', '--quiet'], { cwd: checkout })
  writeFileSync(join(checkout, '.gitignore'), 'node_modules\n')
  return checkout
}

describe('a row', () => {
  test.each([
    [{ file: 'src/none.ts' }, 'there is no src/none.ts'],
    [{ from: 'left' }, 'its text stands 2 times in src/sum.ts'],
    [{ from: 'middle' }, 'its text stands 0 times in src/sum.ts'],
    [{ to: 'left + right' }, 'it changes nothing'],
    [{ test: 'test/none.test.ts' }, 'there is no test/none.test.ts'],
    [{ testName: 'three' }, 'no test in test/sum.test.ts is named "three"'],
  ])('with %o does not fit', (change, misfit) => {
    const checkout = newCheckout()
    expect(misfitOf(row, checkout)).toBeUndefined()
    expect(misfitOf({ ...row, ...change }, checkout)).toBe(misfit)
  })

  test('has found its fault only if an assertion fails that holds without the fault', async () => {
    const checkout = newCheckout()
    const copy = await CheckoutCopy.of(checkout, new AbortController().signal)
    onTestFinished(() => copy.remove())
    const verdicts: readonly (readonly [Partial<PlantedFault>, unknown])[] = [
      [{}, 'found'],
      [{ to: 'left' }, 'found'],
      [{ testName: 'two and two (in all)' }, 'found'],
      [{ testName: 'nothing' }, 'no test of 1 fails'],
      [{ testName: 'toBe(4)' }, 'no test ran without the fault'],
      [
        { from: 'return left', to: 'return right.valueOf.call(undefined as never)' },
        expect.stringMatching(/^"two and two \(in all\)" fails by no assertion: TypeError/),
      ],
      [{ to: 'left + wrong' }, expect.stringMatching(/^it does not compile: .*wrong/)],
      [
        { file: 'src/words.lua', from: 'return', to: 'return (' },
        expect.stringMatching(/^it does not compile: .*expected/),
      ],
      [
        { test: 'test/red.test.ts' },
        expect.stringMatching(/^without the fault "always red" fails: AssertionError/),
      ],
      [{ from: 'middle' }, 'its text stands 0 times in src/sum.ts'],
    ]
    // Each row is built and played twice.
    const [found, ...others] = verdicts
    const played = [found!, ...sampleOf(others, others.length)]
    writeFileSync(join(checkout, 'src/sum.ts'), 'changed meanwhile')
    const told: string[] = []
    const rows = played.map(([change]) => ({ ...row, ...change }))
    for await (const { verdict } of tryFaults(copy, rows, new AbortController().signal))
      told.push(verdict.isFound ? 'found' : verdict.reason)
    expect(told).toEqual(played.map(([, verdict]) => verdict))
  })
})

describe('the command', () => {
  test('takes known options and names only', async () => {
    const faults = await readTable()
    const [first] = faults
    expect(parseWords([], faults)).toMatchObject({ show: 'nothing', chosen: faults })
    expect(parseWords(['--only', first!.name], faults)).toMatchObject({ chosen: [first] })
    expect(parseWords(['--list'], faults)).toMatchObject({ show: 'list' })
    for (const words of [['--fast'], ['--only', 'none'], ['--only'], [first!.name]])
      expect(parseWords(words, faults)).toHaveProperty('problem', expect.stringMatching(/^.+$/))
    const { status, stdout, stderr } = spawnSync(process.execPath, [...planted, '--only', 'none'], {
      encoding: 'utf8',
    })
    const problem = 'There is no planted fault "none".\n'
    expect({ status, stdout, stderr }).toEqual({ status: 2, stdout: '', stderr: problem })
  })

  test('says on ^C how far it came, and leaves nothing', async () => {
    const [first] = await readTable()
    const temporary = newFolder()
    const child = spawn(process.execPath, [...planted, '--only', first!.name], {
      env: { ...process.env, TMPDIR: temporary },
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    onTestFinished(() => void child.kill('SIGKILL'))
    let output = ''
    child.stdout.on('data', (chunk: Buffer) => {
      output += chunk.toString()
      if (output.endsWith('seconds\n')) child.kill('SIGINT')
    })
    const [code] = (await once(child, 'close')) as [number]
    expect(output).toMatch(/\nStopped: 0 of 1 faults planted, 0 found\.\n$/)
    // The loader of TypeScript keeps a cache.
    const left = readdirSync(temporary).filter((name) => !name.startsWith('tsx-'))
    expect([code, left]).toEqual([130, []])
  })
})
