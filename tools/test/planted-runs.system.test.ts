import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, onTestFinished, test } from 'vitest'
import { parseWords } from '../planted/options.ts'
import type { PlantedFault } from '../planted/planted-fault.ts'
import { CheckoutCopy } from '../planted/run/checkout-copy.ts'
import { tryFaults } from '../planted/run/try-faults.ts'
import { readTable } from '../planted/table.ts'
import { sampleOf } from '../testing/sample.ts'
import { newCheckout, newFolder, row } from './support/small-checkout.ts'

const planted = [
  '--conditions=@crossgear/source',
  '--import',
  import.meta.resolve('tsx'),
  fileURLToPath(new URL('../planted/main.ts', import.meta.url)),
]

describe('a row', () => {
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
