import { execFileSync } from 'node:child_process'
import {
  copyFileSync,
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
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import type { PlantedFault } from '../planted-fault.ts'

const modules = 'node_modules'
const maxListBytes = 64 * 2 ** 20

/** Sources as they are in a checkout, in a temporary folder that may be changed. */
export class CheckoutCopy {
  readonly root: string
  /** For temporary files of what runs in the copy. */
  readonly temporaryFolder: string
  readonly #folder: string

  constructor(checkout: string) {
    // A short name: sockets in it have paths of at most 107 bytes.
    this.#folder = mkdtempSync(join(tmpdir(), 'planted-'))
    this.root = join(this.#folder, 'checkout')
    this.temporaryFolder = join(this.#folder, 'tmp')
    mkdirSync(this.temporaryFolder)
    const files = filesOf(checkout)
    for (const file of files) {
      mkdirSync(dirname(join(this.root, file)), { recursive: true })
      copyFileSync(join(checkout, file), join(this.root, file))
    }
    const folders = files.filter((file) => file.split('/').at(-1) === 'package.json').map(dirname)
    for (const folder of folders) {
      const from = join(checkout, folder, modules)
      if (existsSync(from)) linkModules(from, join(this.root, folder, modules))
    }
  }

  /** Plants a fault; the result takes it back. */
  plant({ file, from, to }: PlantedFault): () => void {
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

/** Files of a checkout that Git does not ignore, new ones too. */
function filesOf(checkout: string): readonly string[] {
  const words = ['ls-files', '-z', '--cached', '--others', '--exclude-standard']
  return execFileSync('git', words, { cwd: checkout, encoding: 'utf8', maxBuffer: maxListBytes })
    .split('\0')
    .filter((file) => file !== '' && existsSync(join(checkout, file)))
}

/** Links each module, so that links among them to our own packages lead to those of the copy. */
function linkModules(from: string, to: string): void {
  mkdirSync(to, { recursive: true })
  for (const entry of readdirSync(from, { withFileTypes: true })) {
    const [source, target] = [join(from, entry.name), join(to, entry.name)]
    if (entry.isSymbolicLink()) symlinkSync(readlinkSync(source), target)
    else if (/^(?:@crossgear|\.bin)$/.test(entry.name)) linkModules(source, target)
    else if (!entry.name.startsWith('.')) symlinkSync(source, target)
  }
}
