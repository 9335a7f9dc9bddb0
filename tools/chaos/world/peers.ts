import { OwnProcess } from '@crossgear/tools/own-process'
import { join } from 'node:path'
import type { ClientTask, Order, Progress, Task, WorkerTask } from '../peers/tasks.ts'
import { peerOf } from './bundle-peer.ts'

/** A stopping worker may still have a slow job. */
const stopWithinMs = 20_000

/** A client or worker in a process of its own. */
export class PeerProcess {
  readonly task: Task
  readonly process: OwnProcess
  acknowledged = 0
  /** Settles when a client has all it wanted. */
  readonly done: Promise<void>
  /** Settles when it has begun. */
  readonly begun: Promise<void>

  constructor(program: string, task: Task) {
    this.task = task
    this.process = new OwnProcess(process.execPath, [program, JSON.stringify(task)], {
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
      env: { PATH: process.env['PATH'] },
    })
    const { child } = this.process
    child.on('error', () => undefined)
    this.begun = new Promise((resolve) => child.once('message', () => resolve()))
    this.done = new Promise((resolve) => {
      child.on('message', (message) => {
        const progress = message as Progress
        this.acknowledged = progress.acknowledged
        if (progress.done) resolve()
      })
    })
  }

  get name(): string {
    return this.task.name
  }

  async stop(): Promise<void> {
    if (this.process.hasExited) return
    const order: Order = { stop: true }
    this.process.child.send(order, () => undefined)
    await this.process.endedWithin(stopWithinMs)
  }
}

type Bare<T extends Task> = Omit<T, 'log' | 'role'>

export function startClient(folder: string, task: Bare<ClientTask>): PeerProcess {
  const log = logOf(folder, task.name)
  return new PeerProcess(peerOf(folder), { ...task, role: 'client', log })
}

/** A replacement has its own name and log. */
export function startWorker(folder: string, task: Bare<WorkerTask>): PeerProcess {
  const log = logOf(folder, task.name)
  return new PeerProcess(peerOf(folder), { ...task, role: 'worker', log })
}

function logOf(folder: string, name: string): string {
  return join(folder, `${name}.jobs`)
}
