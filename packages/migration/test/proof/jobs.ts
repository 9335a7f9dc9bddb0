import { createHash } from 'node:crypto'

/** A job of a proof, as its source is given it and as a worker must get it. */
export interface ProofJob {
  readonly fn: string
  /** 64 bytes of some, empty where its system has none. */
  readonly unique: string
  readonly payload: Buffer
  /** 0 high, 1 normal, 2 low. */
  readonly priority: number
  /** Seconds since 1970. */
  readonly dueSeconds?: number
}

const longAt = 7
const longBytes = 5_000_000
const laterEvery = 20
const inADay = Math.floor(Date.now() / 1000) + 86_400

const payloads: readonly ((at: number) => Buffer)[] = [
  (at) => Buffer.from(`job ${at} `.padEnd(100, '.')),
  (at) => Buffer.from([0, 255, at & 255, (at >> 8) & 255, at >> 16, 0, 254]),
  () => Buffer.alloc(0),
  (at) => Buffer.from(JSON.stringify([12_345_678_901, at, 'ü'])),
]

/** Jobs as Gearman clients submit them: NULs, no UTF-8, empty, 5 MB, all priorities, later ones, unique ids of 64 bytes. */
export function gearmanJob(at: number, canWait = true): ProofJob {
  const isLater = canWait && at % laterEvery === laterEvery - 1
  return {
    fn: `report_${at % 3}`,
    unique: at % 5 === 0 ? createHash('sha256').update(String(at)).digest('hex') : `u${at}`,
    payload: at === longAt ? Buffer.alloc(longBytes, 7) : payloadOf(at),
    priority: isLater ? 1 : at % 3,
    ...(isLater && { dueSeconds: inADay + (at % 1_000) }),
  }
}

/** Jobs of systems whose arguments are JSON, which carries neither bytes nor nothing at all. `text`: their arguments. */
export function jsonJob(at: number): ProofJob & { readonly args: readonly unknown[] } {
  const isLater = at % laterEvery === laterEvery - 1
  const text = at === longAt ? '.'.repeat(longBytes) : `\0 ü ${'.'.repeat(at % 100)}`
  const args = [at, text]
  return {
    args,
    fn: `Report${at % 3}`,
    unique: '',
    payload: Buffer.from(JSON.stringify(args)),
    priority: 1,
    ...(isLater && { dueSeconds: inADay + (at % 1_000) }),
  }
}

/** A worker's record of a job. */
export function lineOf({ fn, unique, payload }: ProofJob): string {
  return `${fn} ${unique} ${createHash('sha1').update(payload).digest('hex')}`
}

/** Calls for pieces of all jobs. */
export function* inPieces<Job>(
  count: number,
  jobOf: (at: number) => Job,
  size = 1_000,
): Generator<readonly Job[]> {
  for (let first = 0; first < count; first += size) {
    const length = Math.min(size, count - first)
    yield Array.from({ length }, (_none, at) => jobOf(first + at))
  }
}

function payloadOf(at: number): Buffer {
  return payloads[at % payloads.length]?.(at) ?? Buffer.alloc(0)
}
