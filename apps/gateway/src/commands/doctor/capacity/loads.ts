import { FaktoryConnection, GearmanConnection } from '@crossgear/peers'
import type { ByKind, JobKind } from './model.ts'

/** The open ports of the gateway that is measured. */
export interface Ports {
  readonly gearman: number
  readonly faktory: number
}

/** Jobs of one kind, with payloads of one length. */
export interface Load {
  readonly kind: JobKind
  readonly bytes: number
}

/** A load that runs until it is stopped. */
export interface RunningLoad {
  /** Jobs that a worker has done so far. */
  readonly done: () => number
  /** Resolves when all its connections are closed. Rejects with what ended one of them before. */
  readonly stop: () => Promise<void>
}

/** Connections of producers, and as many of workers. */
const connections = 8
/** Jobs that each Gearman client waits for at a time. */
const underWay = 8

type Closable = Pick<FaktoryConnection | GearmanConnection, 'close'>

/** One load: its connections, the jobs that are done, and whether it goes on. */
class Run implements RunningLoad {
  readonly #open = new Set<Closable>()
  readonly #loops: Promise<void>[] = []
  #jobs = 0
  #isStopped = false

  readonly done = (): number => this.#jobs

  /** Calls this at the end of each job, too. */
  whenDone: () => void = () => undefined

  jobDone(): void {
    this.#jobs += 1
    this.whenDone()
  }

  async open<Connection extends Closable>(opening: Promise<Connection>): Promise<Connection> {
    const connection = await opening
    this.#open.add(connection)
    return connection
  }

  /** Runs a loop; that its connection ends is an error until the load is stopped. */
  loop(run: () => Promise<void>): void {
    const guarded = async (): Promise<void> => {
      try {
        while (!this.#isStopped) await run()
      } catch (error) {
        if (!this.#isStopped) throw error
      }
    }
    const loop = guarded()
    loop.catch(() => undefined)
    this.#loops.push(loop)
  }

  readonly stop = async (): Promise<void> => {
    this.#isStopped = true
    for (const connection of this.#open) connection.close()
    await Promise.all(this.#loops)
  }
}

type Start = (run: Run, ports: Ports, name: string, payload: string) => Promise<void>

/** Each connection pushes a job, fetches one, and acknowledges it. */
async function faktoryJobs(run: Run, { faktory }: Ports, name: string, payload: string) {
  for (let at = 0; at < connections; at += 1) {
    const login = { port: faktory, wid: `${name}-${at}` }
    const connection = await run.open(FaktoryConnection.open(login))
    let pushed = 0
    run.loop(async () => {
      const jid = `${name}-${at}-${pushed++}`
      await connection.ask('PUSH', { jid, jobtype: name, queue: name, args: [payload] })
      const job = await connection.ask('FETCH', name)
      if (job === null) return
      await connection.ask('ACK', { jid: (JSON.parse(String(job)) as { jid: string }).jid })
      run.jobDone()
    })
  }
}

async function workers(run: Run, { gearman }: Ports, name: string): Promise<void> {
  for (let at = 0; at < connections; at += 1) {
    const worker = await run.open(GearmanConnection.open({ port: gearman }))
    worker.send('CAN_DO', name).send('GRAB_JOB')
    run.loop(async () => {
      const packet = await worker.packet()
      if (packet.name === 'JOB_ASSIGN') {
        const [handle = Buffer.alloc(0)] = packet.args
        worker.send('WORK_COMPLETE', handle, 'done').send('GRAB_JOB')
        run.jobDone()
      } else worker.send(packet.name === 'NO_JOB' ? 'PRE_SLEEP' : 'GRAB_JOB')
    })
  }
}

async function clients(
  run: Run,
  { gearman }: Ports,
  submission: 'SUBMIT_JOB' | 'SUBMIT_JOB_BG',
  [name, payload]: readonly [string, string],
): Promise<(() => void)[]> {
  const submits: (() => void)[] = []
  for (let at = 0; at < connections; at += 1) {
    const client = await run.open(GearmanConnection.open({ port: gearman }))
    const submit = (): void => void client.send(submission, name, '', payload)
    submits.push(submit)
    run.loop(async () => {
      const packet = await client.packet()
      if (packet.name === 'WORK_COMPLETE') submit()
    })
  }
  return submits
}

async function foregroundJobs(run: Run, ports: Ports, name: string, payload: string) {
  await workers(run, ports, name)
  const submits = await clients(run, ports, 'SUBMIT_JOB', [name, payload])
  for (const submit of submits) for (let count = 0; count < underWay; count += 1) submit()
}

/** As many jobs wait as in the foreground: the next is submitted when a worker has done one. */
async function backgroundJobs(run: Run, ports: Ports, name: string, payload: string) {
  await workers(run, ports, name)
  const submits = await clients(run, ports, 'SUBMIT_JOB_BG', [name, payload])
  let next = 0
  run.whenDone = () => submits[next++ % submits.length]?.()
  for (const submit of submits) for (let count = 0; count < underWay; count += 1) submit()
}

const starts: ByKind<Start> = {
  faktory: faktoryJobs,
  foreground: foregroundJobs,
  background: backgroundJobs,
}

/** Starts a load on a function and a queue of this name. */
export async function startLoad(
  ports: Ports,
  { kind, bytes }: Load,
  name: string,
): Promise<RunningLoad> {
  const run = new Run()
  try {
    await starts[kind](run, ports, name, 'x'.repeat(bytes))
    return run
  } catch (error) {
    await run.stop()
    throw error
  }
}
