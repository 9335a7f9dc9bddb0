import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { stripVTControlCharacters } from 'node:util'
import { beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest'
import { soon } from '@crossgear/tools/wait-for'
import { lacks } from '../testing/lacks.ts'
import { runWords } from './support/run-words.ts'

const top = fileURLToPath(new URL('../../', import.meta.url))
const projects = fileURLToPath(new URL('support/run-projects/', import.meta.url))
const lasting = `${projects}lasting`
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
    const codecs = ['gearman-codec', 'fwp-codec']
    const named = codecs.map((project) => `--project @crossgear/${project}`).join(' ')
    const { child, output } = atTerminal(`npm test -- ${named} test/encoder test/reply`)
    expect(await codeOf(child)).toBe(0)
    const counted = codecs.map((project) => {
      const row = new RegExp(`^packages/${project} +\\d+ +(\\d+) +0 +0 +[\\d.]+ s`, 'm')
      return Number(row.exec(output())?.[1])
    })
    expect(Math.min(...counted)).toBeGreaterThan(0)
    const [, passed] = sums.exec(output()) ?? []
    expect(Number(passed)).toBe(counted.reduce((sum, count) => sum + count))
    expect(output()).toMatch(
      /✓ +\d+ of \d+ +0:\d\d packages\/gearman-codec\/test\/encoder\.test\.ts/,
    )
  })

  test('of one project ends by itself, too', async () => {
    const { child, output } = atTerminal('npx vitest --root packages/gearman-codec test/encoder')
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
    }, soon)
    child.stdin.write(controlC)
    expect(await codeOf(child)).toBe(130)
    expect(output()).toMatch(/lasting +1 of 2 +1 +0 +0 /)
    expect(output()).toMatch(/^1 passed, 0 failed, 0 skipped, 1 of 2 files in/m)
    const left = () => [...started].filter(([pid, name]) => allProcesses().get(pid)?.name === name)
    await vi.waitFor(() => expect(left()).toEqual([]), soon)
  })
})

/** Runs a small project, and returns the words of the run. */
function run(project: string) {
  const { VITEST: _, ...env } = process.env
  const words = [...runWords, 'quick', '--root', `${projects}${project}`]
  const { status, stdout, stderr } = spawnSync(process.execPath, words, {
    env: { ...env, CI: '' },
    encoding: 'utf8',
  })
  const said = stripVTControlCharacters(stdout)
  return { status, said, lines: said.split('\n'), errors: stripVTControlCharacters(stderr) }
}

describe('a run', () => {
  test('counts skipped tests by the program that they lack', () => {
    const { status, lines } = run('lacking')
    expect(status).toBe(0)
    expect(lines).toEqual(
      expect.arrayContaining([
        'skipped: 5 for want of no-such-program',
        'skipped: 1 for want of no-other-program',
        'skipped: 1 for another reason',
        expect.stringMatching(/^1 passed, 0 failed, 7 skipped in \d+:\d\d$/),
      ]),
    )
  })

  describe('with tests that fail', () => {
    let failing: ReturnType<typeof run>
    // Vite keeps what it has compiled in folders of that name.
    const files = () =>
      readdirSync(projects, { recursive: true, encoding: 'utf8' })
        .filter((file) => !file.includes('node_modules'))
        .toSorted()
    const before = files()
    beforeAll(() => {
      failing = run('failing')
    })

    test('names each failed test with its file and line and what it failed by, and each file that cannot be loaded', () => {
      const { status, said, errors } = failing
      const place = 'tools/test/support/run-projects/failing'
      expect(status).toBe(1)
      expect(said).toContain(`
failed: ${place}/broken.check.ts:1 the file
  this file cannot be loaded (${place}/broken.check.ts:1)
failed: ${place}/declared.ts:10 declared by a helper
  expected 'what a helper saw' to be 'what it expected' // Object.is equality (${place}/declared.ts:10)
failed: ${place}/failing.check.ts:7 a suite > with a test that fails
  expected 'what came' to be 'what was expected' // Object.is equality (${place}/failing.check.ts:8)
`)
      expect(said).toMatch(/^1 passed, 3 failed, 0 skipped in/m)
      expect(errors).toContain('this file cannot be loaded')
      expect(errors).toMatch(/expected 'what came' to be 'what was expected'/)
    })

    test('shows with each file how far it is', () => {
      const shown = failing.lines.filter((line) => /^[✓✗]/.test(line))
      expect(shown.map((line) => line.slice(0, '✗ 1 of 2'.length))).toEqual([
        '✗ 1 of 2',
        '✗ 2 of 2',
      ])
    })

    test('leaves no file behind that another run could read', () => {
      expect(files()).toEqual(before)
    })
  })
})
