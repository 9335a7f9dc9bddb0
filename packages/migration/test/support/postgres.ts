import { execFileSync, spawnSync } from 'node:child_process'
import { chmodSync, chownSync, existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Lacking, lacksUnless } from '@crossgear/tools/lacks'
import { freePort } from '@crossgear/tools/free-port'
import { OwnProcess } from '@crossgear/tools/own-process'
import { waitFor } from '@crossgear/tools/wait-for'

const root = '/usr/lib/postgresql'
const versions = existsSync(root) ? readdirSync(root).sort() : []
const programs = join(root, versions.at(-1) ?? 'none', 'bin')

/** True where PostgreSQL is not installed; in CI never. */
export const lacksPostgres: Lacking = lacksUnless('postgresql', () =>
  existsSync(join(programs, 'initdb')),
)

/** The server refuses to run as root. */
function otherUser(): { readonly uid: number; readonly gid: number } | undefined {
  if (process.getuid?.() !== 0) return undefined
  const idOf = (flag: string): number =>
    Number(spawnSync('id', [flag, 'postgres']).stdout.toString())
  return { uid: idOf('-u'), gid: idOf('-g') }
}

/** A PostgreSQL server of the test's own, with a password, without fsync. */
export class Postgres {
  readonly port: number
  readonly password = 'secret'
  readonly #folder: string
  readonly #process: OwnProcess

  private constructor(port: number, folder: string, running: OwnProcess) {
    this.port = port
    this.#folder = folder
    this.#process = running
  }

  static async start(): Promise<Postgres> {
    const folder = mkdtempSync(join(tmpdir(), 'xg-postgres-'))
    const user = otherUser()
    chmodSync(folder, 0o700)
    if (user) chownSync(folder, user.uid, user.gid)
    const as = { ...user, cwd: folder, stdio: 'pipe' } as const
    const data = join(folder, 'data')
    const options = ['-D', data, '-U', 'gear', '--auth', 'trust', '--encoding', 'UTF8']
    execFileSync(join(programs, 'initdb'), [...options, '--locale', 'C.UTF-8', '--no-sync'], as)
    const port = await freePort()
    const words = ['-D', data, '-p', String(port), '-k', folder, '-F']
    words.push('-c', 'listen_addresses=127.0.0.1')
    const running = new OwnProcess(join(programs, 'postgres'), words, { ...as, stdio: 'ignore' })
    const server = new Postgres(port, folder, running)
    const isReady = [join(programs, 'pg_isready'), server.#where] as const
    await waitFor('PostgreSQL answers', () => Promise.resolve(spawnSync(...isReady).status === 0))
    return server
  }

  /** Runs SQL; its rows, columns separated by `|`. */
  sql(text: string): string {
    const words = [...this.#where, '-qAtc', text]
    return execFileSync(join(programs, 'psql'), words, { stdio: 'pipe' }).toString().trim()
  }

  async stop(): Promise<void> {
    await this.#process.stop('SIGQUIT')
    rmSync(this.#folder, { recursive: true, force: true })
  }

  get #where(): string[] {
    return ['-h', '127.0.0.1', '-p', String(this.port), '-U', 'gear', '-d', 'postgres']
  }
}
