import { execFile, spawnSync } from 'node:child_process'
import * as fs from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

const steps = fileURLToPath(new URL('booted-steps.sh', import.meta.url))
const inside = '/crossgear'

/**
 * Lays a layer in memory over this machine's files and boots systemd on it; both are gone with the last process. Dpkg's
 * trigger would index all manual pages of the machine each time.
 */
const boot = `
set -e
mount -t tmpfs none "$1"
mkdir "$1/upper" "$1/work" "$1/root"
mount -t overlay -o "lowerdir=/,upperdir=$1/upper,workdir=$1/work" none "$1/root"
mkdir -p "$1/root/usr/local/bin"
ln -sf true "$1/root/usr/bin/mandb"
[ -x "$1/root/usr/bin/node" ] || cp "$3" "$1/root/usr/local/bin/node"
exec systemd-nspawn --quiet --directory="$1/root" --boot --register=no --keep-unit --private-network \
  --console=pipe --bind="$2:${inside}" systemd.run=${inside}/steps \
  systemd.run_success_action=exit systemd.run_failure_action=exit`

/** True if this machine may mount, and has the program that boots a system in a namespace. */
export function canBoot(): boolean {
  if (spawnSync('systemd-nspawn', ['--version']).error) return false
  const words = ['--mount', 'mount', '-t', 'tmpfs', 'none', '/mnt']
  return spawnSync('unshare', words).status === 0
}

/** Boots this machine's own system with a package to be installed in it, and gives what its steps found. */
export async function bootWith(folder: string, deb: string): Promise<Record<string, string>> {
  const [shared, layer] = [join(folder, 'shared'), join(folder, 'layer')]
  for (const path of [shared, layer]) fs.mkdirSync(path)
  fs.copyFileSync(steps, join(shared, 'steps'))
  fs.copyFileSync(deb, join(shared, 'crossgear.deb'))
  const words = ['--mount', 'sh', '-c', boot, 'boot', layer, shared, process.execPath]
  const ways = { timeout: 290_000, killSignal: 'SIGKILL' } as const
  const { stdout, stderr } = await promisify(execFile)('unshare', words, ways)
  const result = join(shared, 'result')
  const lines = fs.existsSync(result) ? fs.readFileSync(result, 'utf8').trimEnd().split('\n') : []
  const found = lines.map((line) => /^(\w+)=(.*)$/.exec(line)?.slice(1) ?? [])
  if (found.at(-1)?.[0] !== 'left') {
    throw new Error(['unfinished:', ...lines, stdout, stderr].join('\n'))
  }
  return Object.fromEntries(found) as Record<string, string>
}
