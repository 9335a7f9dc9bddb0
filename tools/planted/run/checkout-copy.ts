import { execFileSync } from 'node:child_process'
import {
  copyFileSync,
  existsSync,
  linkSync,
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
import { basename, dirname, join } from 'node:path'
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
    commitAll(this.root)
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
function commitAll(root: string): void {
  const author = ['-c', 'user.name=planted', '-c', 'user.email=planted@localhost']
  for (const words of [
    ['init', '--quiet'],
    ['add', '--all'],
    ['commit', '--quiet', '--message', 'Copy'],
  ])
    execFileSync('git', [...author, ...words], { cwd: root, stdio: 'ignore' })
}

/** Files of a checkout that Git does not ignore, new ones too. */
function filesOf(checkout: string): readonly string[] {
  const words = ['ls-files', '-z', '--cached', '--others', '--exclude-standard']
  return execFileSync('git', words, { cwd: checkout, encoding: 'utf8', maxBuffer: maxListBytes })
    .split('\0')
    .filter((file) => file !== '' && existsSync(join(checkout, file)))
}

/** Files are linked, not copied: there are tens of thousands. Caches, which runs write, stay behind. */
function linkModules(from: string, to: string): void {
  mkdirSync(to, { recursive: true })
  for (const entry of readdirSync(from, { withFileTypes: true })) {
    const [source, target] = [join(from, entry.name), join(to, entry.name)]
    const isCache = basename(from) === modules && entry.name.startsWith('.vite')
    if (entry.isSymbolicLink()) symlinkSync(readlinkSync(source), target)
    else if (entry.isFile()) linkFile(source, target)
    else if (!isCache) linkModules(source, target)
  }
}

function linkFile(source: string, target: string): void {
  try {
    linkSync(source, target)
  } catch (error) {
    // The temporary folder is on another disk, or the modules are another user's.
    if (!/^(?:EXDEV|EPERM)$/.test((error as NodeJS.ErrnoException).code ?? '')) throw error
    copyFileSync(source, target)
  }
}
