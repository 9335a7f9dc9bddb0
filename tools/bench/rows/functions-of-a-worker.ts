import { setTimeout as delay } from 'node:timers/promises'
import { GearmanConnection } from '@crossgear/peers'
import type { RowGroup } from '../bench.ts'
import { atMost, figureOf, type Figure } from '../report/figures.ts'
import { startGateway, startGearmand, type Server } from '../servers.ts'

const functionCounts = [1, 100, 4_000]
/** In the first hundreds a fresh process is busy compiling itself. */
const jobs = 2_000
const usPerMs = 1000
const target = atMost(2)

/** Costs of one worker, microseconds. */
interface Spent {
  /** For each function that it named, until the server knew all of them. */
  readonly naming: number
  /** For each job. */
  readonly job: number
}

interface Named {
  readonly server: Server
  /** Resolves once the server has stored that a function has so many workers. */
  readonly counted: (fn: string, workers: number) => Promise<void>
}

async function gearmand(): Promise<Named> {
  return { server: await startGearmand(), counted: () => Promise.resolve() }
}

/** Native programs read how many workers a function has: the gateway stores it for each one. */
async function gateway(): Promise<Named> {
  const server = await startGateway()
  return {
    server,
    counted: async (fn, workers) => {
      while (Number(await server.client.get(`count:${fn}`)) !== workers) await delay(1)
    },
  }
}

/** A job that a worker takes and ends, by how many functions it has named; the jobs are in functions all over its list. */
export const functionsOfAWorker: RowGroup = {
  name: 'functions-of-a-worker',
  async measure({ scale }) {
    const figures: Figure[] = []
    for (const functions of functionCounts) {
      const [theirs = [], ours = []] = await turnsOf(functions, scale.rounds)
      const count =
        functions === 1 ? '1 function' : `${functions.toLocaleString('en-US')} functions`
      const of = (key: keyof Spent, name: string, unit: Figure['unit']): Figure => {
        return figureOf({ name, unit, target }, key, ours, { name: 'gearmand', turns: theirs })
      }
      figures.push(of('job', `a job of a worker with ${count}`, 'us/job'))
      if (functions > 1) figures.push(of('naming', `a worker names ${count}, each`, 'us'))
    }
    return figures
  },
}

/** Turns at gearmand and at the gateway. */
async function turnsOf(functions: number, rounds: number): Promise<readonly Spent[][]> {
  const named = [await gearmand(), await gateway()]
  const turns: Spent[][] = named.map(() => [])
  try {
    for (let round = 0; round <= rounds; round += 1) {
      for (const [at, one] of named.entries()) {
        const spent = await spentOn(one, functions)
        if (round > 0) turns[at]?.push(spent)
      }
    }
    return turns
  } finally {
    for (const { server } of named) await server.stop()
  }
}

/** One worker, which asks for one job at a time. */
async function spentOn({ server, counted }: Named, functions: number): Promise<Spent> {
  const names = Array.from({ length: functions }, (_none, at) => `f${at}`)
  const last = names.at(-1) ?? ''
  const client = await GearmanConnection.open(server)
  const worker = await GearmanConnection.open(server)
  for (let job = 0; job < jobs; job += 1) {
    client.send('SUBMIT_JOB_BG', names[(job * 37) % functions] ?? '', '', 'x')
    await client.expect('JOB_CREATED')
  }
  const namesMs = performance.now()
  for (const name of names) worker.send('CAN_DO', name)
  await worker.send('ECHO_REQ', 'named').expect('ECHO_RES')
  await counted(last, 1)
  const begunMs = performance.now()
  for (let job = 0; job < jobs; job += 1) {
    const { args } = await worker.send('GRAB_JOB').expect('JOB_ASSIGN')
    worker.send('WORK_COMPLETE', args[0] ?? '', '')
  }
  await worker.send('GRAB_JOB').expect('NO_JOB')
  const endedMs = performance.now()
  for (const connection of [client, worker]) {
    connection.close()
    await connection.over
  }
  await counted(last, 0)
  return {
    naming: ((begunMs - namesMs) * usPerMs) / functions,
    job: ((endedMs - begunMs) * usPerMs) / jobs,
  }
}
