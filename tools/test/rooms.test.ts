import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, test } from 'vitest'

const root = fileURLToPath(new URL('../..', import.meta.url))
const net = 'apps/gateway/src/doors/net/door.ts'
const upward = 'doors/net is below operations: see the order in tools/lint/rooms.mjs.'

interface Case {
  readonly file: string
  readonly line: string
  /** The linter's message. None. */
  readonly refusal?: string
}

const cases: Readonly<Record<string, Case>> = {
  'refuses a type of a folder above': {
    file: net,
    line: "import type { Fleet } from '../../operations/fleet/fleet.ts'",
    refusal: upward,
  },
  'refuses a type among values': {
    file: net,
    line: "import { type Fleet } from '../../operations/fleet/fleet.ts'",
    refusal: upward,
  },
  'refuses a type where it is used': {
    file: net,
    line: "export type Fleet = import('../../operations/fleet/fleet.ts').Fleet",
    refusal: upward,
  },
  'refuses a value': {
    file: net,
    line: "import { Fleet } from '../../operations/fleet/fleet.ts'",
    refusal: upward,
  },
  'refuses a value that is loaded late': {
    file: net,
    line: "export const fleet = import('../../operations/fleet/fleet.ts')",
    refusal: upward,
  },
  'refuses an export of a name': {
    file: net,
    line: "export { Fleet } from '../../operations/fleet/fleet.ts'",
    refusal: upward,
  },
  'refuses an export of everything': {
    file: net,
    line: "export * from '../../operations/fleet/fleet.ts'",
    refusal: upward,
  },
  'refuses the model of the scheduler a type of its store': {
    file: 'packages/core-scheduler/src/model/job.ts',
    line: "import type { Store } from '../store/store.ts'",
    refusal: 'model is below store: see the order in tools/lint/rooms.mjs.',
  },
  'refuses a folder next to it': {
    file: 'packages/core-scheduler/src/admin/job-sets.ts',
    line: "import type { Reaper } from '../maintenance/reaper.ts'",
    refusal: 'admin is next to maintenance: see the order in tools/lint/rooms.mjs.',
  },
  'refuses any folder to the helpers of all': {
    file: 'apps/gateway/src/json.ts',
    line: "import type { Door } from './doors/net/door.ts'",
    refusal: 'json.ts is below doors/net: see the order in tools/lint/rooms.mjs.',
  },
  'refuses a folder without a place in the order': {
    file: 'apps/gateway/src/attic/box.ts',
    line: 'export const box = 1',
    refusal: 'Give attic its place in tools/lint/rooms.mjs.',
  },
  'refuses a door those behind it in the table of doors': {
    file: 'apps/gateway/src/doors/gearman/session.ts',
    line: "import { HttpDoor } from '../http/http-door.ts'",
    refusal: 'doors/gearman is below doors/http: see the order in tools/lint/rooms.mjs.',
  },
  'allows a door those before it in the table of doors': {
    file: 'apps/gateway/src/doors/http/http-door.ts',
    line: "import { Handles } from '../gearman/handles.ts'",
  },
  'allows a folder below': {
    file: 'apps/gateway/src/operations/observe.ts',
    line: "import type { Door } from '../doors/net/door.ts'",
  },
  'allows its own folder': { file: net, line: "import type { Census } from './census.ts'" },
  'allows a helper of all': { file: net, line: "import { StartError } from '../../errors.ts'" },
  'allows the program every folder': {
    file: 'apps/gateway/src/main.ts',
    line: "import { runCommandLine } from './commands/program.ts'",
  },
  'allows another package': { file: net, line: "import type { Job } from '@crossgear/ops'" },
}

const folder = mkdtempSync(join(tmpdir(), 'xg-rooms-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

interface Diagnostic {
  readonly message: string
  /** The name of the file begins with that of the case. */
  readonly filename: string
}

let diagnostics: readonly Diagnostic[]
beforeAll(() => {
  const config = {
    jsPlugins: [join(root, 'tools/lint/rooms.mjs')],
    categories: { correctness: 'off' },
    rules: { 'rooms/order': 'error' },
  }
  writeFileSync(join(folder, 'oxlintrc.json'), JSON.stringify(config))
  for (const [name, { file, line }] of Object.entries(cases)) {
    const path = join(folder, name, file)
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, `${line}\n`)
  }
  const oxlint = join(root, 'node_modules/oxlint/bin/oxlint')
  const words = [oxlint, '-c', 'oxlintrc.json', '--format', 'json']
  const { stdout } = spawnSync(process.execPath, words, { cwd: folder, encoding: 'utf8' })
  ;({ diagnostics } = JSON.parse(stdout) as { readonly diagnostics: readonly Diagnostic[] })
})

test.each(Object.keys(cases))('the order of folders %s', (name) => {
  const own = diagnostics.filter(({ filename }) => filename.startsWith(`${name}/`))
  const { refusal } = cases[name]!
  expect(own.map(({ message }) => message)).toEqual(refusal === undefined ? [] : [refusal])
})
