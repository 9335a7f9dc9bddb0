import { spawn } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Worker } from 'faktory-worker'
import { SpecPeer } from '@crossgear/tools/spec-peer'
import type { Bridge } from './bridge.ts'

/** The part of a job's payload that a Faktory worker reads here. */
interface JobPayload {
  readonly jid: string
  readonly args: readonly unknown[]
  readonly custom?: { readonly encoding?: string }
}

/** How a worker ends each job: with an output, or with a failure. */
export type Work = 'succeed' | 'fail'

export const workOutput = 'done'

/** A stock worker of one door at work. */
export interface RunningWorker {
  /** The payloads it was given, as bytes. */
  received(): readonly Buffer[]
  stop(): Promise<void>
}

/** `fn` may name a queue too, as `jobtype@queue`. */
export interface WorkerDoor {
  readonly name: string
  start(bridge: Bridge, fn: string, work: Work): Promise<RunningWorker>
}

/** Shell code that keeps the job on its standard input in the folder. */
export function workScript(folder: string, work: Work): string {
  const end = work === 'succeed' ? `printf ${workOutput}` : 'exit 1'
  // Written beside the folder and moved into it, so that only whole payloads are seen there.
  return `f=$(mktemp ${folder}.XXXXXX); cat > "$f"; mv "$f" ${folder}/; ${end}`
}

/** Reads the payloads in the folder, each once: a file there is whole and does not change. */
export function payloadsOf(folder: string): () => readonly Buffer[] {
  const payloads = new Map<string, Buffer>()
  return () => {
    for (const name of readdirSync(folder)) {
      if (!payloads.has(name)) payloads.set(name, readFileSync(join(folder, name)))
    }
    return [...payloads.values()]
  }
}

const gearmanWorker: WorkerDoor = {
  name: 'gearman',
  start(bridge, fn, work) {
    const folder = mkdtempSync(join(tmpdir(), 'crossgear-worker-'))
    const script = workScript(folder, work)
    const where = ['-h', '127.0.0.1', '-p', String(bridge.workerPorts.gearman)]
    const child = spawn('gearman', [...where, '-w', '-f', fn, '--', 'sh', '-c', script], {
      stdio: 'ignore',
    })
    const ended = new Promise((resolve) => child.once('exit', resolve))
    return Promise.resolve({
      received: payloadsOf(folder),
      async stop() {
        child.kill('SIGKILL')
        await ended
        rmSync(folder, { recursive: true, force: true })
      },
    })
  },
}

/** The bytes behind the arguments that a Faktory worker is shown for another door's payload. */
function bytesOf(job: JobPayload): Buffer {
  const [first] = job.args
  if (typeof first !== 'string') return Buffer.from(JSON.stringify(job.args))
  return Buffer.from(first, job.custom?.encoding === 'base64' ? 'base64' : 'utf8')
}

const faktoryWorker: WorkerDoor = {
  name: 'faktory',
  async start(bridge, fn, work) {
    const received: Buffer[] = []
    const [jobtype = '', queue = 'default'] = fn.split('@')
    const worker = new Worker({
      host: '127.0.0.1',
      port: bridge.workerPorts.faktory,
      concurrency: 2,
      queues: [queue],
    })
    worker.register(jobtype, () => ({ job }: { job: JobPayload }) => {
      received.push(bytesOf(job))
      if (work === 'fail') throw new Error('told to fail')
    })
    worker.client.ack = async (jid: string) =>
      worker.client.sendWithAssert(['ACK', JSON.stringify({ jid, result: workOutput })], 'OK')
    await worker.work()
    return { received: () => received, stop: () => worker.stop() }
  },
}

const nativeWorker: WorkerDoor = {
  name: 'native',
  async start({ redis }, fn, work) {
    const received: Buffer[] = []
    const worker = new SpecPeer(redis).worker(fn)
    await worker.start()
    let stopped = false
    const run = async (): Promise<void> => {
      while (!stopped) {
        const job = await worker.next(1)
        if (!job) continue
        received.push(job.input)
        if (work === 'succeed') await worker.finish(job.id, workOutput)
        else await worker.finish(job.id, 'told to fail', 'error')
      }
    }
    const running = run()
    return {
      received: () => received,
      async stop() {
        stopped = true
        await running
        await worker.stop()
      },
    }
  },
}

export const workerDoors: readonly WorkerDoor[] = [gearmanWorker, faktoryWorker, nativeWorker]
