import { execFile, execFileSync } from 'node:child_process'
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { copyFile, mkdir } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import type { PlantedFault } from '../planted-fault.ts'

const run = promisify(execFile)
const modules = 'node_modules'
/** The folder of links to the programs of modules. */
const programs = '.bin'
const maxListBytes = 64 * 2 ** 20

/** Sources as they are in a checkout, in a temporary folder that may be changed. */
export class CheckoutCopy {
  readonly root: string
  /** For temporary files of what runs in the copy. */
  readonly temporaryFolder: string
  readonly #folder: string

  private constructor() {
    // A short name: sockets in it have paths of at most 107 bytes.
    this.#folder = mkdtempSync(join(tmpdir(), 'planted-'))
    this.root = join(this.#folder, 'checkout')
    this.temporaryFolder = join(this.#folder, 'tmp')
    mkdirSync(this.temporaryFolder)
  }

  /** Copies a checkout. Nothing is left of it if `stop` is aborted meanwhile. */
  static async of(checkout: string, stop: AbortSignal): Promise<CheckoutCopy> {
    const copy = new CheckoutCopy()
    try {
      await copy.#fill(checkout, stop)
      return copy
    } catch (error) {
      copy.remove()
      throw error
    }
  }

  async #fill(checkout: string, stop: AbortSignal): Promise<void> {
    const files = filesOf(checkout)
    for (const file of files) {
      stop.throwIfAborted()
      await mkdir(dirname(join(this.root, file)), { recursive: true })
      await copyFile(join(checkout, file), join(this.root, file))
    }
    const folders = files.filter((file) => file.split('/').at(-1) === 'package.json').map(dirname)
    for (const folder of folders) {
      const from = join(checkout, folder, modules)
      if (existsSync(from)) linkModules(from, join(this.root, folder, modules))
    }
    await commitAll(this.root, stop)
  }

  /** Plants a fault; the result takes it back. */
  plant({ file, from, to }: Pick<PlantedFault, 'file' | 'from' | 'to'>): () => void {
    const path = join(this.root, file)
    const text = readFileSync(path, 'utf8')
    writeFileSync(
      path,
      text.replace(from, () => to),
    )
    return () => writeFileSync(path, text)
  }

  remove(): void {
    rmSync(this.#folder, { recursive: true, force: true })
  }
}

/** Some tests ask for the history of their checkout. */
async function commitAll(root: string, stop: AbortSignal): Promise<void> {
  const author = ['-c', 'user.name=planted', '-c', 'user.email=planted@localhost']
  for (const words of [
    ['init', '--quiet'],
    ['add', '--all'],
    ['commit', '--quiet', '--message', 'Copy'],
  ]) {
    stop.throwIfAborted()
    await run('git', [...author, ...words], { cwd: root })
  }
}

/** Files of a checkout that Git does not ignore, new ones too. */
function filesOf(checkout: string): readonly string[] {
  const words = ['ls-files', '-z', '--cached', '--others', '--exclude-standard']
  return execFileSync('git', words, { cwd: checkout, encoding: 'utf8', maxBuffer: maxListBytes })
    .split('\0')
    .filter((file) => file !== '' && existsSync(join(checkout, file)))
}

/**
 * Each installed module is a link to its folder: there are hundreds of them, and tens of thousands of files. Our own packages
 * are links between folders of the checkout, and so lead into the copy. Caches, which runs write, stay behind.
 */
function linkModules(from: string, to: string): void {
  mkdirSync(to, { recursive: true })
  for (const entry of readdirSync(from, { withFileTypes: true })) {
    const [source, target] = [join(from, entry.name), join(to, entry.name)]
    const isCache = entry.name.startsWith('.') && entry.name !== programs
    if (entry.isSymbolicLink()) symlinkSync(readlinkSync(source), target)
    else if (entry.name === programs || entry.name.startsWith('@')) linkModules(source, target)
    else if (!isCache) symlinkSync(source, target)
  }
}
