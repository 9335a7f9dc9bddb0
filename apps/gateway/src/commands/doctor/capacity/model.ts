/** The kinds of jobs that are measured. */
export const jobKinds = ['faktory', 'foreground', 'background'] as const
export type JobKind = (typeof jobKinds)[number]

/** A value for each kind of job. */
export type ByKind<Value> = Readonly<Record<JobKind, Value>>

/** Processor time of a job with a payload of so many bytes: a start, and more for each KiB. Microseconds. */
export interface Line {
  readonly base: number
  readonly perKib: number
}

/** The cost of a job of one kind. */
export interface JobCost {
  readonly gatewayUs: Line
  readonly redisUs: Line
  /** Bytes between gateway and Redis, in place of microseconds. */
  readonly traffic: Line
}

/** The model of a machine. */
export interface Terms {
  readonly jobs: ByKind<JobCost>
  /** Memory of a job that waits, in Redis: bytes, and more for each KiB of its payload. */
  readonly waitingBytes: Line
  /** Memory of a connection that is idle, in the gateway's heap, bytes. */
  readonly connectionBytes: number
  /** Processor time of gateway and Redis together while nothing happens, microseconds a second. */
  readonly restUs: number
}

/** A job's share of processor time and traffic. */
export interface Cost {
  readonly gatewayUs: number
  readonly redisUs: number
  readonly traffic: number
}

/** Processes and memory for so many jobs a second. */
export interface Plan {
  readonly jobsPerSecond: number
  /** At least one for each Redis server. */
  readonly gateways: number
  /** Each a store of its own, with a share of the functions. */
  readonly redisServers: number
  /** Cores that are busy, of all processes together. */
  readonly cores: number
  readonly trafficBytesPerSecond: number
  /** Memory of the jobs of an hour in which no worker takes one. */
  readonly hourBytes: number
  readonly firstAtLimit: 'gateway' | 'Redis'
}

const bytesPerKib = 1024
const usPerSecond = 1_000_000
/** Share of a core that a gateway, or a Redis server, may use: beyond it jobs begin to wait for each other. */
export const usableShare = 0.7

/** The line through two points, which does not fall. */
export function lineThrough(
  [fewBytes, few]: readonly [bytes: number, value: number],
  [manyBytes, many]: readonly [bytes: number, value: number],
): Line {
  const perKib = Math.max(0, ((many - few) * bytesPerKib) / (manyBytes - fewBytes))
  return { base: Math.max(0, few - (perKib * fewBytes) / bytesPerKib), perKib }
}

export function valueAt({ base, perKib }: Line, bytes: number): number {
  return base + (perKib * bytes) / bytesPerKib
}

/** The cost of a job with this payload. */
export function costOf({ jobs }: Terms, kind: JobKind, bytes: number): Cost {
  const { gatewayUs, redisUs, traffic } = jobs[kind]
  return {
    gatewayUs: valueAt(gatewayUs, bytes),
    redisUs: valueAt(redisUs, bytes),
    traffic: valueAt(traffic, bytes),
  }
}

/** How many processes jobs of one kind take, and what they fill. */
export function planOf(terms: Terms, kind: JobKind, bytes: number, jobsPerSecond: number): Plan {
  const { gatewayUs, redisUs, traffic } = costOf(terms, kind, bytes)
  const processes = (us: number): number =>
    Math.max(1, Math.ceil((jobsPerSecond * us) / (usableShare * usPerSecond)))
  const redisServers = processes(redisUs)
  return {
    jobsPerSecond,
    gateways: Math.max(processes(gatewayUs), redisServers),
    redisServers,
    cores: (jobsPerSecond * (gatewayUs + redisUs) + terms.restUs) / usPerSecond,
    trafficBytesPerSecond: jobsPerSecond * traffic,
    hourBytes: jobsPerSecond * 3_600 * valueAt(terms.waitingBytes, bytes),
    firstAtLimit: gatewayUs >= redisUs ? 'gateway' : 'Redis',
  }
}
