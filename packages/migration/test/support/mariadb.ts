import { execFileSync, spawnSync } from 'node:child_process'
import { chmodSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Lacking, lacks } from '@crossgear/tools/lacks'
import { freePort } from '@crossgear/tools/free-port'
import { OwnProcess } from '@crossgear/tools/own-process'
import { waitFor } from '@crossgear/tools/wait-for'

const program = '/usr/sbin/mariadbd'

/** True where MariaDB is not installed; in CI never. */
export const lacksMariadb: Lacking = lacks(program, '--version')

/** The server refuses to run as root. */
const asUser = process.getuid?.() === 0 ? ['--user=mysql'] : []

/** A MariaDB server of the test's own, with the database `gear` and a user of that name, who has the password `secret`. */
export class Mariadb {
  readonly port: number
  readonly #folder: string
  readonly #process: OwnProcess

  private constructor(port: number, folder: string, running: OwnProcess) {
    this.port = port
    this.#folder = folder
    this.#process = running
  }

  static async start(): Promise<Mariadb> {
    const folder = mkdtempSync(join(tmpdir(), 'xg-mariadb-'))
    chmodSync(folder, 0o777)
    const data = `--datadir=${join(folder, 'data')}`
    const install = ['--no-defaults', data, '--auth-root-authentication-method=normal']
    execFileSync('mariadb-install-db', [...install, '--skip-test-db', ...asUser], { stdio: 'pipe' })
    const port = await freePort()
    const socket = join(folder, 'mariadb.sock')
    const words = ['--no-defaults', data, `--socket=${socket}`, `--port=${port}`, ...asUser]
    const lax = ['--innodb-flush-log-at-trx-commit=0', '--innodb-fast-shutdown=2']
    const where = ['--bind-address=127.0.0.1', `--pid-file=${join(folder, 'pid')}`]
    const running = new OwnProcess(program, [...words, ...where, ...lax])
    const server = new Mariadb(port, folder, running)
    await waitFor('MariaDB answers', () =>
      Promise.resolve(server.#client('', 'SELECT 1').status === 0),
    )
    for (const host of ['127.0.0.1', 'localhost']) {
      server.sql(`CREATE USER gear@'${host}' IDENTIFIED BY 'secret'`, '')
      server.sql(`GRANT ALL ON gear.* TO gear@'${host}'`, '')
    }
    server.sql('CREATE DATABASE gear', '')
    return server
  }

  /** Runs SQL as root; its rows, columns separated by tabs. */
  sql(text: string, database = 'gear'): string {
    const { status, stdout, stderr } = this.#client(database, text)
    if (status !== 0) throw new Error(stderr.toString())
    return stdout.toString().trim()
  }

  async stop(): Promise<void> {
    await this.#process.kill()
    rmSync(this.#folder, { recursive: true, force: true })
  }

  #client(database: string, text: string) {
    const socket = join(this.#folder, 'mariadb.sock')
    const words = ['--no-defaults', '--default-character-set=utf8mb4', '-S', socket, '-u', 'root']
    words.push('-N', '-B', '-e', text)
    return spawnSync('mariadb', database === '' ? words : [...words, database])
  }
}
