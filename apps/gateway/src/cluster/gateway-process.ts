import { type ChildProcess, fork } from 'node:child_process'
import { StartError } from '../errors.ts'
import type { OpenDoor } from '../ops/log/banner.ts'
import type { SharedSocket } from './bound-ports.ts'
import { type FromProcess, mark, type ChildSettings } from './child.ts'

/** A process as its parent sees it: this program once more, with the same words. */
export class GatewayProcess {
  readonly number: number
  readonly child: ChildProcess
  readonly startedAt = performance.now()
  /** Its doors, once it serves. Rejects with a StartError if it cannot start. */
  readonly ready: Promise<readonly OpenDoor[]>
  /** Settles with the way it ended. */
  readonly exited: Promise<string>
  /** True from its start until its end. */
  serves = false
  /** Checks by the parent since its last heartbeat; undefined before the first: loading may take long. */
  silentChecks: number | undefined

  /** The sockets are handed over as by a service manager. */
  constructor(number: number, sockets: readonly SharedSocket[]) {
    // The first process gets the inherited web port.
    const own = sockets.filter(({ name }) => number === 1 || name !== 'web')
    const [, program = '', ...words] = process.argv
    const { NOTIFY_SOCKET: _, ...env } = process.env
    const child = fork(program, words, {
      env: {
        ...{ ...env, [mark]: String(number) },
        ...{ LISTEN_PID: String(process.pid), LISTEN_FDS: String(own.length) },
        LISTEN_FDNAMES: own.map(({ name }) => name).join(':'),
      },
      serialization: 'advanced',
      stdio: ['ignore', 'inherit', 'pipe', ...own.map(({ fd }) => fd), 'ipc'],
    })
    this.number = number
    this.child = child
    let lastWords = ''
    child.stderr?.on('data', (chunk: Buffer) => {
      if (this.serves) process.stderr.write(chunk)
      else lastWords += chunk.toString()
    })
    this.exited = new Promise((resolve) => {
      child.once('error', (error) => resolve(error.message))
      child.once('close', (code, signal) => {
        this.serves = false
        this.silentChecks = undefined
        resolve(signal === null ? `exit code ${code ?? 'unknown'}` : `signal ${signal}`)
      })
    })
    this.ready = new Promise((resolve, reject) => {
      child.on('message', (message: FromProcess) => {
        if (message === 'alive') this.silentChecks = 0
        else if (Array.isArray(message)) {
          this.serves = true
          resolve(message)
        }
      })
      void this.exited.then((how) => {
        const said = lastWords.replace(/^gearmand: /, '').trim()
        const reason = said || `Process ${number} ended while it started (${how}).`
        reject(new StartError(reason, child.exitCode === 2 ? 2 : 1))
      })
    })
    this.ready.catch(() => undefined)
  }

  start(settings: Omit<ChildSettings, 'number'>): void {
    // One that has ended says so by its exit.
    this.child.send({ ...settings, number: this.number }, () => undefined)
  }
}
