import { execFile, spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { numberOfRun, playsAll } from '@crossgear/tools/sample'
import { expect, onTestFinished, test } from 'vitest'
import { planOf } from '../world/plan.ts'

const program = [
  '--conditions=@crossgear/source',
  '--import',
  import.meta.resolve('tsx'),
  fileURLToPath(new URL('../main.ts', import.meta.url)),
]

function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'xg-simulate-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

interface Ended {
  readonly code: number
  readonly stdout: string
  readonly stderr: string
}

function simulate(words: readonly string[], begun?: (child: ChildProcess) => void): Promise<Ended> {
  return new Promise((resolve) => {
    const all = [...program, ...words]
    const ways = { maxBuffer: 2 ** 28 }
    const child = execFile(process.execPath, all, ways, (error, stdout, stderr) => {
      resolve({ code: Number(error?.code ?? 0), stdout, stderr })
    })
    begun?.(child)
  })
}

/** All but the line with the time that it took. */
const storiesIn = ({ stdout }: Ended): readonly string[] =>
  stdout.split('\n').filter((line) => !/ events in /.test(line))

/** Time between two signals to a process that is held up, milliseconds. */
const heldUpMs = 20

/** Stops a process again and again, as others on a busy machine would, but takes nothing from them. */
function holdUp(child: ChildProcess): void {
  let isStopped = false
  const timer = setInterval(() => {
    isStopped = !isStopped
    child.kill(isStopped ? 'SIGSTOP' : 'SIGCONT')
  }, heldUpMs)
  child.once('exit', () => clearInterval(timer))
  onTestFinished(() => void child.kill('SIGKILL'))
}

/** The seeds that are played twice: a run plays a part of those of the night. */
function seedsOfRun(): { readonly from: number; readonly count: number } {
  const all = { from: 201, count: 32 }
  const parts = 8
  if (playsAll()) return all
  const count = all.count / parts
  return { from: all.from + numberOfRun(parts) * count, count }
}

test(
  'a seed gives the same story in each process, alone or under load, after whatever seed',
  { timeout: 900_000 },
  async () => {
    const { from, count } = seedsOfRun()
    const words = ['--from', String(from), '--seeds', String(count), '--story', '--no-shrink']
    const calm = await simulate([...words, '--processes', '1'])
    // The plan of the last seed, which is played by itself.
    const plan = join(newFolder(), 'plan.json')
    writeFileSync(plan, JSON.stringify(planOf(from + count - 1)))
    const [loaded, single] = await Promise.all([
      simulate([...words, '--processes', '3'], holdUp),
      simulate(['--plan', plan]),
    ])
    expect(storiesIn(loaded)).toEqual(storiesIn(calm))
    const alone = storiesIn(single).slice(0, -2)
    expect(alone.length).toBeGreaterThan(20)
    expect(storiesIn(calm).slice(0, -2).slice(-alone.length)).toEqual(alone)
    expect(calm.stdout).toMatch(/ begins \w+-\d+ \(run \d+\)\n/)
    // A run ends with how many worlds passed and failed.
    expect([single.code, loaded.code]).toEqual([0, 0])
    expect(single.stdout).toMatch(/faults are over\n[^]*events in [^]*\n1 passed, 0 failed\n$/)
    expect(loaded.stdout).toMatch(new RegExp(`\n${count} passed, 0 failed\n$`))
  },
)

test('a wrong word is one line, and exit code 1', async () => {
  const stderr = 'There is no option --seds: did you mean --seeds?\n'
  expect(await simulate(['--seds', '3'])).toEqual({ code: 1, stdout: '', stderr })
})

test('^C says how far it came, and leaves nothing', async () => {
  const temporary = newFolder()
  const child = spawn(
    process.execPath,
    [...program, '--seeds', '1000000', '--story', '--no-shrink'],
    {
      env: { ...process.env, TMPDIR: temporary },
      stdio: ['ignore', 'pipe', 'inherit'],
    },
  )
  onTestFinished(() => void child.kill('SIGKILL'))
  let output = ''
  child.stdout.on('data', (chunk: Buffer) => {
    if (output === '') child.kill('SIGINT')
    output += chunk.toString()
  })
  const [code] = (await once(child, 'close')) as [number]
  expect(output).toMatch(/\nStopped after \d+ of 1000000 worlds: \d+ passed, \d+ failed\n$/)
  // The loader of TypeScript keeps a cache.
  const left = readdirSync(temporary).filter((name) => !name.startsWith('tsx-'))
  expect([code, left]).toEqual([130, []])
})
