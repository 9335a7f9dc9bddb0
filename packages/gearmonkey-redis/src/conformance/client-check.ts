import { randomInt } from 'node:crypto'
import type { ClientArguments, ClientCase } from './arguments.ts'
import type { Probe } from './probe.ts'
import type { Report } from './report.ts'
import { RunningCommand } from './run-command.ts'
import { fieldsOf, words, type Step } from './trace.ts'

const queues = ['high', 'normal', 'low'] as const

/** One run of the user's client. */
interface Trial {
  readonly scene: string
  readonly fn: string
  /** The id that INCR returns next. */
  readonly id: number
  readonly prio: 'high' | 'normal' | 'low' | 'scheduled'
  readonly scheduledFor: number | undefined
  readonly input: Buffer
}

/** Tries a client's command in each selected case. */
export class ClientCheck {
  readonly #args: ClientArguments
  readonly #probe: Probe
  readonly #report: Report

  constructor(args: ClientArguments, probe: Probe, report: Report) {
    this.#args = args
    this.#probe = probe
    this.#report = report
  }

  async run(): Promise<void> {
    for (const name of this.#args.cases) {
      const trial = await this.#prepare(name)
      if (name === 'rollcall') await this.#rollCall(trial)
      else if (name === 'blocking') await this.#blocking(trial)
      else await this.#plain(trial)
      await this.#cleanUp(trial)
    }
  }

  async #plain(trial: Trial): Promise<void> {
    const { from, command } = this.#start(trial)
    await this.#ends(trial, command)
    await this.#judge(trial, from, command)
  }

  /** Without a worker an error and no job are expected, with one a job. */
  async #rollCall(trial: Trial): Promise<void> {
    const { scene, fn } = trial
    const asked = words('GET', `count:${fn}`)
    const without = this.#start(trial, { GEARMONKEY_ROLLCALL: '1' })
    const code = await without.command.end(this.#args.timeoutMs)
    await this.#probe.settle()
    const trace = this.#probe.trace(without.from)
    this.#report.judgeSteps(`${scene}, no worker`, trace, [asked], trial)
    const raised = code === undefined || code === 0 ? `exit code ${code ?? 'none'}` : undefined
    this.#report.judge(`${scene}, no worker`, 'the client raises an error', raised)
    const made = trace.find(({ args }) => args.some((arg) => arg.startsWith(`job:${fn}:`)))
    const detail = made && `${made.name} ${made.args.join(' ')}`
    this.#report.judge(`${scene}, no worker`, 'no job is created', detail)

    await this.#cleanUp(trial)
    await this.#probe.send('SET', `uid:${fn}`, trial.id - 1)
    await this.#probe.send('SET', `count:${fn}`, 1)
    const { from, command } = this.#start(trial, { GEARMONKEY_ROLLCALL: '1' })
    await this.#ends(trial, command)
    await this.#judge(trial, from, command, [asked])
  }

  /** Plays the worker once the client waits. */
  async #blocking(trial: Trial): Promise<void> {
    const { scene, fn, id } = trial
    const timeout = String(Math.ceil(this.#args.timeoutMs / 1000) + 5)
    const wait = words('BRPOP', `lock:${fn}:${id}`, timeout)
    const given = { GEARMONKEY_BLOCKING: '1', GEARMONKEY_TIMEOUT: timeout }
    const { from, command } = this.#start(trial, given)
    const waits = await this.#probe.waitFor(wait.is, from, this.#args.timeoutMs)
    await this.#judge(trial, from, command, [], [wait], false)
    if (!waits) {
      this.#report.leaveOut(scene, 'the client returns when the lock is pushed', 'it did not wait')
      command.signal('SIGKILL')
      return
    }
    const early = command.hasEnded ? 'it ended before' : undefined
    this.#report.judge(scene, 'the client waits until the lock is pushed', early)
    await this.#probe.send('HMSET', `job:${fn}:${id}`, 'status', 'error', 'output', 'no luck')
    await this.#probe.send('LPUSH', `lock:${fn}:${id}`, 'OK')
    const code = await command.end(this.#args.timeoutMs)
    const detail = code === undefined ? 'it did not end' : undefined
    this.#report.judge(scene, 'the client returns when the lock is pushed', detail)
    command.signal('SIGKILL')
    this.#judgeId(trial, command)
  }

  async #judge(
    trial: Trial,
    from: number,
    command: RunningCommand,
    before: readonly Step[] = [],
    after: readonly Step[] = [],
    hasEnded = true,
  ): Promise<void> {
    await this.#probe.settle()
    const trace = this.#probe.trace(from)
    const steps = [...before, ...submission(trial), ...after]
    this.#report.judgeSteps(trial.scene, trace, steps, trial)
    await this.#judgeHash(trial)
    await this.#judgePlaces(trial)
    if (hasEnded) this.#judgeId(trial, command)
  }

  async #judgeHash({ scene, fn, id, input }: Trial): Promise<void> {
    const stored = await this.#probe.send('HGET', `job:${fn}:${id}`, 'input')
    const same = Buffer.isBuffer(stored) && stored.equals(input)
    const detail = same
      ? undefined
      : Buffer.isBuffer(stored)
        ? `${stored.length} other bytes`
        : 'none'
    this.#report.judge(scene, `the hash holds the ${input.length} bytes of the input`, detail)
  }

  async #judgePlaces({ scene, fn, id, prio }: Trial): Promise<void> {
    const places: string[] = []
    for (const queue of queues) {
      const ids = (await this.#probe.send('LRANGE', `queue:${fn}:${queue}`, 0, -1)) as Buffer[]
      places.push(...ids.filter((one) => String(one) === String(id)).map(() => queue))
    }
    const score = await this.#probe.text('ZSCORE', `queue:${fn}:scheduled`, id)
    if (score !== undefined) places.push('scheduled')
    const detail = places.join() === prio ? undefined : `it is in ${places.join(', ') || 'none'}`
    this.#report.judge(scene, `the id is in queue:{FN}:${prio} once and in no other`, detail)
  }

  #judgeId({ scene, id }: Trial, command: RunningCommand): void {
    const ids: readonly string[] = command.stdout.match(/\d+/g) ?? []
    const detail = ids.includes(String(id))
      ? undefined
      : `it said ${JSON.stringify(command.stdout)}`
    this.#report.judge(scene, 'the client returns the id that the server gave', detail)
  }

  async #ends({ scene }: Trial, command: RunningCommand): Promise<void> {
    const code = await command.end(this.#args.timeoutMs)
    const said = command.stderr === '' ? '' : `: ${command.stderr}`
    const detail = code === 0 ? undefined : `exit code ${code ?? 'none'}${said}`
    this.#report.judge(scene, 'the command succeeds', detail)
    command.signal('SIGKILL')
  }

  #start(
    { fn, prio, scheduledFor, input }: Trial,
    more: Readonly<Record<string, string>> = {},
  ): { from: number; command: RunningCommand } {
    const from = this.#probe.length
    const env = {
      GEARMONKEY_REDIS_URL: this.#args.redisUrl,
      GEARMONKEY_FN: fn,
      GEARMONKEY_PRIO: prio,
      GEARMONKEY_SCHEDULED: scheduledFor === undefined ? '' : String(scheduledFor),
      GEARMONKEY_ROLLCALL: '',
      GEARMONKEY_BLOCKING: '',
      GEARMONKEY_TIMEOUT: '',
    }
    return { from, command: new RunningCommand(this.#args.command, { ...env, ...more }, input) }
  }

  async #prepare(name: ClientCase): Promise<Trial> {
    const fn = `conformance-${name}-${randomInt(1e9)}`
    const id = randomInt(1_000, 100_000)
    await this.#probe.send('SET', `uid:${fn}`, id - 1)
    const scheduledFor = name === 'scheduled' ? 4_000_000_000 + randomInt(1_000) : undefined
    const prio = name === 'rollcall' || name === 'blocking' ? 'normal' : name
    const every = Buffer.from(Array.from({ length: 256 }, (_item, i) => i))
    const input = name === 'normal' ? every : Buffer.from(`\n input of ${name} \r\n`)
    return { scene: `client, ${name}`, fn, id, prio, scheduledFor, input }
  }

  async #cleanUp({ fn, id }: Trial): Promise<void> {
    const lists = [...queues, 'scheduled'].map((queue) => `queue:${fn}:${queue}`)
    const named = [`uid:${fn}`, `count:${fn}`, `job:${fn}:${id}`, `lock:${fn}:${id}`]
    await this.#probe.send('DEL', ...named, ...lists)
  }
}

/** Commands of a client for one job, in the order that the text requires. */
function submission({ fn, id, prio, scheduledFor }: Trial): readonly Step[] {
  const key = `job:${fn}:${id}`
  const push =
    scheduledFor === undefined
      ? words('LPUSH', `queue:${fn}:${prio}`, String(id))
      : words('ZADD', `queue:${fn}:scheduled`, String(scheduledFor), String(id))
  return [
    words('INCR', `uid:${fn}`),
    {
      must: `HMSET ${key} status "idle" input "{INPUT}"`,
      is: (command) => {
        if (command.name !== 'HMSET' || command.args[0] !== key) return false
        const fields = fieldsOf(command)
        return fields.get('status') === 'idle' && fields.has('input')
      },
    },
    words('PUBLISH', `channel:${fn}`, `create:${id}`),
    push,
  ]
}
