import { spawnSync, execFileSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const inCi = process.env['CI'] === 'true'

/** A client and a worker on one library. */
export interface StockKit {
  readonly name: string
  /** The Debian package without which the kit is passed over; none for a package of npm. */
  readonly needs?: string
  /** Command that exits with 0 where the library is there. */
  readonly probe?: readonly string[]
  readonly client: () => readonly string[]
  readonly worker: () => readonly string[]
  /** The client's library refuses jobs without data. */
  readonly refusesEmpty?: true
  /** The library hands out data and results as one, and progress as a share. */
  readonly streams?: true
  /** The worker's only failure is an exception, with this before its text. */
  readonly failsAs?: string
  /** Largest payload that the library can put together from pieces. */
  readonly maxBytes: number
  /** Jobs in a set. One library sends its small packets with a delay: 50 ms a job, with any server. */
  readonly atOnce: number
}

function source(name: string): string {
  return fileURLToPath(new URL(`../programs/${name}`, import.meta.url))
}

function once(make: () => string): () => string {
  let made: string | undefined
  return () => (made ??= make())
}

const cClient = once(() => compiled(source('client.c'), 'client'))
const cWorker = once(() => compiled(source('worker.c'), 'worker'))
const compileProbe = 'echo "#include <libgearman/gearman.h>" | cc -fsyntax-only -x c -'

const c: StockKit = {
  name: 'c',
  needs: 'libgearman-dev',
  probe: ['sh', '-c', compileProbe],
  client: () => [cClient()],
  worker: () => [cWorker()],
  maxBytes: 300_000,
  atOnce: 100,
}

const php: StockKit = {
  name: 'php',
  needs: 'php-gearman',
  probe: ['php', '-r', 'exit(extension_loaded("gearman") ? 0 : 1);'],
  client: () => ['php', source('client.php')],
  worker: () => ['php', source('worker.php')],
  refusesEmpty: true,
  maxBytes: 300_000,
  atOnce: 100,
}

const perl: StockKit = {
  name: 'perl',
  needs: 'libgearman-client-perl',
  probe: ['perl', '-MGearman::Client', '-MGearman::Worker', '-e1'],
  client: () => ['perl', source('client.pl')],
  worker: () => ['perl', source('worker.pl')],
  maxBytes: 300_000,
  atOnce: 100,
}

const gearmanode: StockKit = {
  name: 'gearmanode',
  client: () => [process.execPath, source('gearmanode-client.mjs')],
  worker: () => [process.execPath, source('gearmanode-worker.mjs')],
  // The library loses its place in a packet of which fewer than 12 bytes come in one piece.
  maxBytes: 8_000,
  atOnce: 10,
}

const abraxas: StockKit = {
  name: 'abraxas',
  client: () => [process.execPath, source('abraxas-client.mjs')],
  worker: () => [process.execPath, source('abraxas-worker.mjs')],
  streams: true,
  failsAs: 'Error: ',
  maxBytes: 300_000,
  atOnce: 100,
}

export const kits: readonly StockKit[] = [c, php, perl, gearmanode, abraxas]

/** Kits whose library is not there. On a build machine all are taken to be there. */
export const absent: readonly StockKit[] = kits.filter(
  ({ probe: [program = '', ...args] = [] }) =>
    !inCi && program !== '' && spawnSync(program, args).status !== 0,
)

export const present: readonly StockKit[] = kits.filter((kit) => !absent.includes(kit))

/** The kits of these names that are there. */
export function kitsNamed(...names: readonly string[]): readonly StockKit[] {
  return present.filter(({ name }) => names.includes(name))
}

let folder: string | undefined

/** Builds a program of ours on libgearman, once for this test file. */
function compiled(source: string, name: string): string {
  const made = (folder ??= newFolder())
  const program = join(made, name)
  const flags = ['-std=gnu11', '-Wall', '-Wextra', '-Wno-unused-function', '-O1']
  execFileSync('cc', [...flags, '-o', program, source, '-lgearman'], { stdio: 'inherit' })
  return program
}

function newFolder(): string {
  const made = mkdtempSync(join(tmpdir(), 'crossgear-stock-'))
  process.once('exit', () => rmSync(made, { recursive: true, force: true }))
  return made
}
