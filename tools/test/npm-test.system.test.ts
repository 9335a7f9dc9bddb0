import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { stripVTControlCharacters } from 'node:util'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { lacks } from '../testing/lacks.ts'
import { runWords } from './support/run-words.ts'

const top = fileURLToPath(new URL('../../', import.meta.url))
const lasting = fileURLToPath(new URL('support/run-projects/lasting', import.meta.url))
const patience = { timeout: 60_000, interval: 50 }
const controlC = '\x03'
/** Clock ticks since the machine's start, among the fields of /proc/PID/stat behind the name. */
const startTime = 19
const sums = /^(\d+) passed, (\d+) failed, (\d+) skipped in \d+:\d\d\r?$/m

/** A command at a terminal of its own, as a person starts it: without the variables of this run. */
function atTerminal(command: string) {
  const own = Object.entries(process.env).filter(([name]) => !/^(CI|NX|VITEST|TEST)/.test(name))
  const env = Object.fromEntries(own)
  const child = spawn('script', ['-qec', command, '/dev/null'], { cwd: top, env })
  let output = ''
  child.stdout.on('data', (bytes: Buffer) => (output += stripVTControlCharacters(bytes.toString())))
  onTestFinished(() => {
    for (const pid of treeOf(child.pid ?? 0).keys()) process.kill(pid, 'SIGKILL')
  })
  return { child, output: () => output }
}

interface Started {
  readonly parent: number
  /** The name of the process and when it started: another process may get its pid. */
  readonly name: string
}

/** Processes of the machine that run, by pid. One that has ended stays until its parent asks for its end. */
function allProcesses(): ReadonlyMap<number, Started> {
  const all = new Map<number, Started>()
  for (const pid of readdirSync('/proc').filter((entry) => /^\d+$/.test(entry))) {
    try {
      const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
      const [, name = '', rest = ''] = /^\d+ \((.*)\) (.*)$/s.exec(stat) ?? []
      const fields = rest.split(' ')
      const [state = '', parent] = fields
      if (/[ZXx]/.test(state)) continue
      all.set(Number(pid), { parent: Number(parent), name: `${name} of ${fields[startTime]}` })
    } catch {
      // The process has ended meanwhile.
    }
  }
  return all
}

/** A process with all that it and its children have started, by pid. */
function treeOf(root: number): ReadonlyMap<number, string> {
  const all = allProcesses()
  const isOfTree = (pid: number): boolean => {
    const parent = all.get(pid)?.parent
    return pid === root || (parent !== undefined && isOfTree(parent))
  }
  return new Map([...all].filter(([pid]) => isOfTree(pid)).map(([pid, { name }]) => [pid, name]))
}

async function codeOf(child: ChildProcess): Promise<unknown> {
  const [code] = (await once(child, 'close')) as unknown[]
  return code
}

describe.skipIf(lacks('script', '--version'))('npm test at a terminal', () => {
  test('ends by itself, with a row for each project and the sums alone on a line', async () => {
    const { child, output } = atTerminal('npm test -- --project @crossgear/gearman-codec')
    expect(await codeOf(child)).toBe(0)
    expect(output()).toMatch(/^packages\/gearman-codec +\d+ +\d+ +0 +0 +[\d.]+ s/m)
    const [, passed] = sums.exec(output()) ?? []
    expect(Number(passed)).toBeGreaterThan(100)
    expect(output()).toMatch(
      /✓ +\d+ of \d+ +0:\d\d packages\/gearman-codec\/test\/encoder\.test\.ts/,
    )
  })

  test('of one project ends by itself, too', async () => {
    const { child, output } = atTerminal('npx vitest --root packages/gearman-codec')
    expect(await codeOf(child)).toBe(0)
    expect(output()).toMatch(/Tests +\d+ passed/)
  })

  test('leaves no process behind after ^C, and counts what has ended until then', async () => {
    const words = [process.execPath, ...runWords, 'quick', '--root', lasting]
    const { child, output } = atTerminal(words.join(' '))
    const started = await vi.waitFor(() => {
      expect(output()).toContain('both have started')
      expect(output()).toContain('first.check.ts')
      return treeOf(child.pid ?? 0)
    }, patience)
    child.stdin.write(controlC)
    expect(await codeOf(child)).toBe(130)
    expect(output()).toMatch(/lasting +1 of 2 +1 +0 +0 /)
    expect(output()).toMatch(/^1 passed, 0 failed, 0 skipped, 1 of 2 files in/m)
    const left = () => [...started].filter(([pid, name]) => allProcesses().get(pid)?.name === name)
    await vi.waitFor(() => expect(left()).toEqual([]), patience)
  })
})
