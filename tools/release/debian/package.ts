import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import * as fs from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, relative } from 'node:path'
import { gzipSync } from 'node:zlib'
import { typescriptWords } from '../../testing/gateway-program.ts'
import { neededPackages, programPlace } from '../lock-file.ts'
import { everythingIn, setTimes } from '../source-date.ts'
import { changelog, control, copyright, debianVersion, maintainerOf } from './texts.ts'

const library = 'usr/lib/crossgear'
const otherPrograms = ['crossgear-gearmand', 'crossgear-faktory']
const programs = ['crossgear', ...otherPrograms]
const settings = 'etc/crossgear/crossgear.toml'
const scripts = ['postinst', 'prerm', 'postrm']

/** The folder in which each shell looks for completions. */
const completions = {
  bash: 'usr/share/bash-completion/completions/crossgear',
  zsh: 'usr/share/zsh/vendor-completions/_crossgear',
  fish: 'usr/share/fish/vendor_completions.d/crossgear.fish',
}

export interface DebianPackage {
  readonly root: string
  /** The folder of `stageProgram`. */
  readonly program: string
  /** The folder that gets the package. */
  readonly into: string
  readonly date: Date
  /** Words for dpkg-deb; xz takes long. */
  readonly compression?: readonly string[]
}

interface Manifest {
  readonly version: string
  readonly engines: { readonly node: string }
}

class Tree {
  readonly folder = fs.mkdtempSync(join(tmpdir(), 'crossgear-deb-'))

  write(path: string, text: string | Buffer, mode = 0o644): void {
    const file = join(this.folder, path)
    fs.mkdirSync(dirname(file), { recursive: true })
    fs.writeFileSync(file, text)
    fs.chmodSync(file, mode)
  }

  link(path: string, target: string): void {
    const file = join(this.folder, path)
    fs.mkdirSync(dirname(file), { recursive: true })
    fs.symlinkSync(relative(dirname(path), target), file)
  }

  /** Files only, as `usr/bin/crossgear`. */
  files(): readonly string[] {
    return everythingIn(this.folder)
      .filter((path) => fs.lstatSync(path).isFile())
      .map((path) => relative(this.folder, path))
      .filter((path) => !path.startsWith('DEBIAN/'))
      .sort()
  }

  /** Scripts can be run by all, and everything can be read by all, whatever the umask was. */
  setModes(): void {
    for (const path of everythingIn(this.folder)) {
      const stat = fs.lstatSync(path)
      if (stat.isSymbolicLink()) continue
      fs.chmodSync(path, stat.isDirectory() || isScript(path, stat.mode) ? 0o755 : 0o644)
    }
  }
}

function isScript(path: string, mode: number): boolean {
  return (mode & 0o111) !== 0 && fs.readFileSync(path).subarray(0, 2).toString() === '#!'
}

/** The unit as the package has it: settings are in the file alone. */
export function packagedUnit(unit: string): string {
  const changes: readonly (readonly [RegExp, string])[] = [
    [/^# The gateway as a service, installed by npm.*\n/m, ''],
    [/^ExecStart=.*$/m, `ExecStart=/usr/bin/crossgear --config /${settings}`],
    [/^Environment=.*\n/m, ''],
  ]
  return changes.reduce((text, [pattern, line]) => {
    if (!pattern.test(text)) throw new Error(`the unit has no ${String(pattern)}`)
    return text.replace(pattern, line)
  }, unit)
}

function addUnits(tree: Tree, root: string): void {
  const folder = join(root, 'deploy/systemd')
  for (const name of fs.readdirSync(folder)) {
    const unit = fs.readFileSync(join(folder, name), 'utf8')
    tree.write(
      `usr/lib/systemd/system/${name}`,
      name.endsWith('.service') ? packagedUnit(unit) : unit,
    )
  }
}

/** Man pages, the file of settings and completions: all are made from the option table. */
function addManual(tree: Tree, root: string, date: Date): void {
  const folder = fs.mkdtempSync(join(tmpdir(), 'crossgear-manual-'))
  try {
    const script = join(root, programPlace, 'scripts/write-manual.ts')
    const preset = 'data_dir=/var/lib/crossgear'
    const words = [...typescriptWords(), script, folder, date.toISOString().slice(0, 10), preset]
    execFileSync(process.execPath, words)
    const page = (name: string) => gzipSync(fs.readFileSync(join(folder, name)), { level: 9 })
    tree.write('usr/share/man/man1/crossgear.1.gz', page('crossgear.1'))
    for (const name of otherPrograms) {
      tree.link(`usr/share/man/man1/${name}.1.gz`, 'usr/share/man/man1/crossgear.1.gz')
    }
    tree.write('usr/share/man/man5/crossgear.toml.5.gz', page('crossgear.toml.5'))
    tree.write(settings, fs.readFileSync(join(folder, 'crossgear.toml')))
    for (const [shell, path] of Object.entries(completions)) {
      tree.write(path, fs.readFileSync(join(folder, `crossgear.${shell}`)))
    }
  } finally {
    fs.rmSync(folder, { recursive: true })
  }
}

function addDocuments(tree: Tree, root: string, date: Date, version: string): void {
  const own = fs.readFileSync(join(root, 'deploy/debian/copyright'), 'utf8')
  const changes = fs.readFileSync(join(root, 'CHANGELOG.md'), 'utf8')
  const log = changelog(changes, { version, date, maintainer: maintainerOf(root) })
  const folder = 'usr/share/doc/crossgear'
  tree.write(`${folder}/copyright`, copyright(own, root, neededPackages(root)))
  tree.write(
    `${folder}/examples/gearmand.init`,
    fs.readFileSync(join(root, 'deploy/sysvinit/gearmand')),
    0o755,
  )
  tree.write(`${folder}/changelog.gz`, gzipSync(log, { level: 9 }))
}

function addControl(tree: Tree, root: string, { version, engines }: Manifest): void {
  const files = tree.files()
  const sizes = files.map((path) => Math.ceil(fs.statSync(join(tree.folder, path)).size / 1024))
  const installedKib = sizes.reduce((sum, kib) => sum + kib, 0)
  const maintainer = maintainerOf(root)
  tree.write('DEBIAN/control', control({ version, node: engines.node, installedKib, maintainer }))
  tree.write('DEBIAN/conffiles', `/${settings}\n`)
  const sums = files
    .filter((path) => path !== settings)
    .map((path) => {
      const content = fs.readFileSync(join(tree.folder, path))
      return `${createHash('md5').update(content).digest('hex')}  ${path}\n`
    })
  tree.write('DEBIAN/md5sums', sums.join(''))
  for (const name of scripts) {
    tree.write(`DEBIAN/${name}`, fs.readFileSync(join(root, 'deploy/debian', name)), 0o755)
  }
}

/** Makes the Debian package of a staged program and returns its file. The same sources make the same bytes. */
export function buildDebianPackage(wanted: DebianPackage): string {
  const { root, program, into, date, compression = ['-Zxz'] } = wanted
  const text = fs.readFileSync(join(root, programPlace, 'package.json'), 'utf8')
  const manifest = JSON.parse(text) as Manifest
  const tree = new Tree()
  try {
    fs.cpSync(program, join(tree.folder, library), { recursive: true })
    for (const name of programs) {
      tree.link(`usr/bin/${name}`, `${library}/node_modules/@crossgear/gateway/bin/crossgear.js`)
    }
    addUnits(tree, root)
    addManual(tree, root, date)
    addDocuments(tree, root, date, manifest.version)
    addControl(tree, root, manifest)
    tree.setModes()
    setTimes(tree.folder, date)
    const file = join(into, `crossgear_${debianVersion(manifest.version)}_all.deb`)
    execFileSync('dpkg-deb', ['--root-owner-group', ...compression, '--build', tree.folder, file], {
      env: { ...process.env, SOURCE_DATE_EPOCH: String(date.getTime() / 1000) },
      stdio: 'pipe',
    })
    return file
  } finally {
    fs.rmSync(tree.folder, { recursive: true })
  }
}
