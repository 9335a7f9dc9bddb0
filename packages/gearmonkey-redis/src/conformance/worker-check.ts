import type { WorkerArguments } from './arguments.ts'
import type { Probe } from './probe.ts'
import type { Report } from './report.ts'
import { RunningCommand } from './run-command.ts'
import { fieldsOf, words, type Seen, type Step } from './trace.ts'
import { asksForDue, judgeExit, judgeLoop, judgeSpaces, judgeStart } from './worker-loop.ts'

/** Gives a worker a job of each kind and watches it. */
export class WorkerCheck {
  readonly #args: WorkerArguments
  readonly #probe: Probe
  readonly #report: Report
  /** Steps that did not come for one job, and are not waited for again. */
  readonly #neverCame = new Set<number>()
  readonly #ids: number[] = []

  constructor(args: WorkerArguments, probe: Probe, report: Report) {
    this.#args = args
    this.#probe = probe
    this.#report = report
  }

  async run(): Promise<void> {
    const { fn, command, redisUrl, failInput, timeoutMs } = this.#args
    const from = this.#probe.length
    const before = Number((await this.#probe.text('GET', `count:${fn}`)) ?? 0)
    const env = { GEARMONKEY_REDIS_URL: redisUrl, GEARMONKEY_FN: fn }
    const worker =
      command === undefined ? undefined : new RunningCommand(command, env, Buffer.alloc(0))
    try {
      const polls = await this.#probe.waitFor((one) => isPop(one, fn), from, timeoutMs)
      if (worker) judgeSpaces(this.#report, this.#probe.trace(from))
      if (!polls) {
        const said = worker?.stderr ? `: ${worker.stderr}` : ''
        this.#report.judge('worker', 'a worker polls for the function', `none does${said}`)
        return
      }
      const count = Number((await this.#probe.text('GET', `count:${fn}`)) ?? 0)
      judgeStart(this.#report, this.#probe.trace(from), { fn, before, count, isOurs: !!worker })
      for (const prio of ['high', 'normal', 'low', 'scheduled'] as const) {
        await this.#job(prio, `input of ${prio}`, 'success')
      }
      if (failInput === undefined) {
        this.#report.leaveOut('worker, error', 'an error raised is reported', 'no --fail-input')
      } else await this.#job('normal', failInput, 'error')
      await this.#notYet()
      await this.#probe.settle()
      judgeLoop(this.#report, this.#probe.trace(from), fn)
      this.#judgeOnce(this.#probe.trace(from))
      await this.#exit(worker, before)
    } finally {
      worker?.signal('SIGKILL')
    }
  }

  /** Submits a job as the text says, and judges how the worker handles it. */
  async #job(
    prio: 'high' | 'normal' | 'low' | 'scheduled',
    input: string,
    status: 'success' | 'error',
  ): Promise<void> {
    const { fn, timeoutMs } = this.#args
    const scene = `worker, ${status === 'error' ? 'error' : prio}`
    const from = this.#probe.length
    const id = await this.#submit(prio, input)
    this.#ids.push(id)
    const steps = work(fn, id, status)
    for (const [index, { is }] of steps.entries()) {
      if (this.#neverCame.has(index)) continue
      if (!(await this.#probe.waitFor(is, from, timeoutMs))) this.#neverCame.add(index)
    }
    await this.#probe.settle()
    this.#report.judgeSteps(scene, this.#probe.trace(from), steps, { fn, id })
    await this.#judgeState(scene, id, status)
    await this.#probe.send('DEL', `job:${fn}:${id}`, `lock:${fn}:${id}`)
  }

  /** Listeners count jobs by their events. */
  #judgeOnce(trace: readonly Seen[]): void {
    const { fn } = this.#args
    for (const event of ['start', 'finish']) {
      const often = this.#ids.filter((id) => {
        const { is } = words('PUBLISH', `channel:${fn}`, `${event}:${id}`)
        return trace.filter(is).length > 1
      })
      const detail = often.length > 0 ? `more than once for ${often.length} jobs` : undefined
      this.#report.judge('worker', `PUBLISH channel:{FN} ${event}:{ID} comes once`, detail)
    }
  }

  async #judgeState(scene: string, id: number, status: string): Promise<void> {
    const key = `job:${this.#args.fn}:${id}`
    const found = await this.#probe.text('HGET', key, 'status')
    const detail = found === status ? undefined : `it is ${found ?? 'missing'}`
    this.#report.judge(scene, `the status ends as ${status}`, detail)
    const output = await this.#probe.text('HGET', key, 'output')
    this.#report.judge(scene, 'the hash has an output', output === undefined ? 'none' : undefined)
    const ttl = Number(await this.#probe.text('TTL', key))
    const lives = ttl > 89_900 && ttl <= 90_000 ? undefined : `it expires in ${ttl} s`
    this.#report.judge(scene, 'the hash expires in 25 hours', lives)
  }

  /** A job scheduled for later must stay in place while others are done. */
  async #notYet(): Promise<void> {
    const { fn, timeoutMs } = this.#args
    const id = await this.#submit('scheduled', 'later', 3_600)
    await this.#probe.settle()
    await this.#probe.waitFor((one) => asksForDue(one, fn), this.#probe.length, timeoutMs)
    const score = await this.#probe.text('ZSCORE', `queue:${fn}:scheduled`, id)
    const detail = score === undefined ? 'it was taken an hour early' : undefined
    this.#report.judge('worker, scheduled', 'a job that is not due is left alone', detail)
    await this.#probe.send('ZREM', `queue:${fn}:scheduled`, id)
    await this.#probe.send('DEL', `job:${fn}:${id}`)
  }

  async #exit(worker: RunningCommand | undefined, before: number): Promise<void> {
    const { fn, timeoutMs } = this.#args
    const scene = 'worker, exit'
    if (!worker) {
      this.#report.leaveOut(scene, `DECR count:${fn}`, 'no --worker-command')
      return
    }
    const from = this.#probe.length
    worker.signal('SIGTERM')
    const code = await worker.end(timeoutMs)
    const ends = code === undefined && !worker.hasEnded ? 'it runs on' : undefined
    this.#report.judge(scene, 'the worker ends on SIGTERM', ends)
    await this.#probe.settle()
    const count = Number((await this.#probe.text('GET', `count:${fn}`)) ?? 0)
    judgeExit(this.#report, this.#probe.trace(from), { fn, before, count })
  }

  async #submit(prio: string, input: string, inSeconds = 0): Promise<number> {
    const { fn } = this.#args
    const id = Number(await this.#probe.send('INCR', `uid:${fn}`))
    await this.#probe.send('HMSET', `job:${fn}:${id}`, 'status', 'idle', 'input', input)
    await this.#probe.send('PUBLISH', `channel:${fn}`, `create:${id}`)
    if (prio === 'scheduled') {
      const [now] = (await this.#probe.send('TIME')) as [Buffer]
      const due = Number(String(now)) + inSeconds
      await this.#probe.send('ZADD', `queue:${fn}:scheduled`, due, id)
    } else await this.#probe.send('LPUSH', `queue:${fn}:${prio}`, id)
    return id
  }
}

function isPop({ name, args }: Seen, fn: string): boolean {
  return name === 'BRPOP' && args.some((arg) => arg.startsWith(`queue:${fn}:`))
}

/** Commands of a worker for one job, in the order that the text requires. */
function work(fn: string, id: number, status: string): readonly Step[] {
  const key = `job:${fn}:${id}`
  const sets = (must: string, is: (fields: ReadonlyMap<string, string>) => boolean): Step => ({
    must: `HMSET ${key} ${must}`,
    is: (command) => command.name === 'HMSET' && command.args[0] === key && is(fieldsOf(command)),
  })
  return [
    words('PUBLISH', `channel:${fn}`, `start:${id}`),
    sets('status "busy"', (fields) => fields.get('status') === 'busy'),
    sets(
      `status "${status}" output "{OUTPUT}"`,
      (fields) => fields.get('status') === status && fields.has('output'),
    ),
    words('EXPIRE', key, '90000'),
    words('PUBLISH', `channel:${fn}`, `finish:${id}`),
    words('LPUSH', `lock:${fn}:${id}`, 'OK'),
    words('EXPIRE', `lock:${fn}:${id}`, '10'),
  ]
}
