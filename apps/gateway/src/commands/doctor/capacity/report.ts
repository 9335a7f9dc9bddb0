import { availableParallelism } from 'node:os'
import { type Column, tableLines } from '../../terminal/table.ts'
import type { Load } from './loads.ts'
import type { Check, Measured } from './measure.ts'
import {
  type ByKind,
  type JobKind,
  jobKinds,
  type Line,
  type Plan,
  planOf,
  usableShare,
} from './model.ts'

/** Jobs a second for which the table has a row each. */
const rates = [1_000, 10_000, 100_000, 1_000_000]
/** Cores that other programs of a quiet machine may keep busy. */
const quietCores = 0.2
/** Payload of the jobs in the table, bytes. */
const tableBytes = 1_000

const titles: ByKind<string> = {
  faktory: 'Faktory: PUSH, FETCH and ACK',
  foreground: 'Gearman: a foreground job',
  background: 'Gearman: a background job',
}

/** The answer of `doctor --capacity`. */
export interface Capacity extends Measured {
  readonly server: string
  readonly cores: number
  readonly plans: ByKind<readonly Plan[]>
}

export function capacityOf(measured: Measured, server: string): Capacity {
  const plans = {} as Record<JobKind, readonly Plan[]>
  for (const kind of jobKinds) {
    plans[kind] = rates.map((rate) => planOf(measured.terms, kind, tableBytes, rate))
  }
  return { ...measured, server, cores: availableParallelism(), plans }
}

const costColumns: readonly Column<readonly [string, Line, Line, Line]>[] = [
  { title: 'a job takes', value: ([title]) => title },
  { title: 'gateway us', value: ([, gatewayUs]) => lineText(gatewayUs), isNumber: true },
  { title: 'redis us', value: ([, , redisUs]) => lineText(redisUs), isNumber: true },
  { title: 'bytes to redis and back', value: ([, , , bytes]) => lineText(bytes), isNumber: true },
]

const checkColumns: readonly Column<Check>[] = [
  { title: 'load', value: ({ loads }) => loads.map(loadText).join(', and ') },
  { title: 'jobs/s', value: ({ jobsPerSecond }) => whole(jobsPerSecond), isNumber: true },
  { title: 'us by the figures', value: ({ predictedUs }) => whole(predictedUs), isNumber: true },
  { title: 'us measured', value: ({ measuredUs }) => whole(measuredUs), isNumber: true },
  { title: 'error', value: errorText, isNumber: true },
]

const planColumns: readonly Column<Plan>[] = [
  { title: 'jobs/s', value: ({ jobsPerSecond }) => whole(jobsPerSecond), isNumber: true },
  { title: 'gateways', value: ({ gateways }) => whole(gateways), isNumber: true },
  { title: 'redis servers', value: ({ redisServers }) => whole(redisServers), isNumber: true },
  { title: 'busy cores', value: ({ cores }) => cores.toFixed(1), isNumber: true },
  {
    title: 'to redis and back',
    value: ({ trafficBytesPerSecond }) => `${bytesText(trafficBytesPerSecond)}/s`,
    isNumber: true,
  },
  {
    title: 'an hour without workers',
    value: ({ hourBytes }) => bytesText(hourBytes),
    isNumber: true,
  },
  { title: 'full first', value: ({ firstAtLimit }) => firstAtLimit },
]

/** For a person, as wide as it has to be. */
export function capacityText({
  terms,
  checks,
  plans,
  server,
  cores,
  otherCores,
}: Capacity): string {
  const costs = jobKinds.map((kind) => {
    const { gatewayUs, redisUs, traffic } = terms.jobs[kind]
    return [titles[kind], gatewayUs, redisUs, traffic] as const
  })
  const lines = [
    ...(otherCores > quietCores
      ? [
          `Other programs kept ${otherCores.toFixed(1)} of ${cores} cores busy, so that a job looks dearer than it is: measure again when they are quiet.`,
          '',
        ]
      : []),
    `Measured here: ${cores} cores, ${server}. Processor time in microseconds, and more for each KiB of payload.`,
    '',
    ...tableLines(costColumns, costs, Infinity),
    '',
    `A job that waits takes ${lineText(terms.waitingBytes)} bytes of Redis, an idle connection ${bytesText(terms.connectionBytes)} of the gateway's heap.`,
    `Gateway and Redis at rest take ${(terms.restUs / 10_000).toFixed(1)} % of a core.`,
    '',
    'Checked with loads that are none of those:',
    '',
    ...tableLines(checkColumns, checks, Infinity),
    ...jobKinds.flatMap((kind) => [
      '',
      `${titles[kind]}, payloads of ${tableBytes} bytes, each process at most at ${usableShare * 100} % of a core:`,
      '',
      ...tableLines(planColumns, plans[kind], Infinity),
    ]),
    '',
    'More than one Redis server: each is a store of its own with a share of the functions. A job of a Cluster takes several times as much: docs/operate/capacity.md.',
  ]
  return `${lines.join('\n')}\n`
}

function lineText({ base, perKib }: Line): string {
  return `${whole(base)} + ${perKib.toFixed(1)}/KiB`
}

function loadText({ kind, bytes }: Load): string {
  return `${titles[kind]} of ${whole(bytes)} bytes`
}

function errorText({ predictedUs, measuredUs }: Check): string {
  const percent = Math.round((100 * (predictedUs - measuredUs)) / measuredUs)
  return `${percent > 0 ? '+' : ''}${percent} %`
}

function whole(value: number): string {
  return Math.round(value).toLocaleString('en-US')
}

const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB']

function bytesText(bytes: number): string {
  const power = Math.min(units.length - 1, Math.floor(Math.log2(Math.max(1, bytes)) / 10))
  return `${(bytes / 1024 ** power).toFixed(power === 0 ? 0 : 1)} ${units[power]}`
}
