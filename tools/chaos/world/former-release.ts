import { execFileSync, spawnSync, type StdioOptions } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, renameSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('../../../', import.meta.url))
/** Names the commit to upgrade from. */
const variable = 'CROSSGEAR_UPGRADE_FROM'
/** Used if there is neither that nor a tag. */
const commitsBack = 25
const ours = '@crossgear'

function git(...words: readonly string[]): string | undefined {
  const { status, stdout } = spawnSync('git', words, { cwd: root, encoding: 'utf8' })
  return status === 0 ? stdout.trim() : undefined
}

/** The commit to upgrade from: the one that was named, the last tag, or an older one. */
export function formerCommit(): string | undefined {
  const ref =
    process.env[variable] ??
    git('describe', '--tags', '--abbrev=0', 'HEAD~1') ??
    `HEAD~${commitsBack}`
  return git('rev-parse', '--verify', '--quiet', `${ref}^{commit}`)
}

/** Words for Node that run the gateway of that commit. Builds it, once on a machine. */
export function formerGateway(commit: string): readonly string[] {
  const folder = join(tmpdir(), `crossgear-${commit.slice(0, 12)}`)
  if (!existsSync(folder)) {
    const draft = `${folder}.${process.pid}`
    rmSync(draft, { recursive: true, force: true })
    build(commit, draft)
    renameSync(draft, folder)
  }
  return [join(folder, 'apps/gateway/dist/main.js')]
}

function build(commit: string, folder: string): void {
  mkdirSync(folder)
  const stdio: StdioOptions = ['pipe', 'ignore', 'inherit']
  const options = { cwd: folder, stdio }
  const archive = execFileSync('git', ['archive', commit], { cwd: root, maxBuffer: 2 ** 30 })
  execFileSync('tar', ['-x'], { ...options, input: archive })
  linkModules(folder)
  // By that commit's own script, whichever compiler it takes.
  execFileSync('npm', ['run', '--silent', 'build'], options)
}

/** The dependencies that are installed here, with that commit's own packages. */
function linkModules(folder: string): void {
  const modules = join(folder, 'node_modules')
  mkdirSync(join(modules, ours), { recursive: true })
  for (const name of readdirSync(join(root, 'node_modules'))) {
    if (name === ours) continue
    symlinkSync(join(root, 'node_modules', name), join(modules, name))
  }
  // Relative, since the folder gets its name when it is complete.
  const packages = readdirSync(join(folder, 'packages'))
  for (const name of packages) {
    symlinkSync(join('../../packages', name), join(modules, ours, name))
  }
  symlinkSync('../../tools', join(modules, ours, 'tools'))
  // Versions that one package alone has.
  for (const own of ['apps/gateway', ...packages.map((name) => `packages/${name}`)]) {
    const from = join(root, own, 'node_modules')
    if (existsSync(from)) symlinkSync(from, join(folder, own, 'node_modules'))
  }
}
