import { GearmanConnection } from '@crossgear/peers'
import { withServers, type RowGroup } from '../bench.ts'
import { atMost, type Figure } from '../report/figures.ts'
import { startGateway, startGearmand, type Server } from '../servers.ts'

const functionCounts = [1, 100, 4_000]
/** In the first hundreds a fresh process is busy compiling itself. */
const jobs = 2_000
const usPerMs = 1000
const target = atMost(2)

/** A job that a worker takes and ends, by how many functions it has named; the jobs are in functions all over its list. */
export const functionsOfAWorker: RowGroup = {
  name: 'functions-of-a-worker',
  async measure({ scale }) {
    const figures: Figure[] = []
    for (const functions of functionCounts) {
      const [theirs = [], ours = []] = await withServers<Server, readonly number[][]>(
        [startGearmand, startGateway],
        async (servers) => {
          const samples: number[][] = servers.map(() => [])
          for (let round = 0; round <= scale.rounds; round += 1) {
            for (const [at, { port }] of servers.entries()) {
              const us = await perJob(port, functions)
              if (round > 0) samples[at]?.push(us)
            }
          }
          return samples
        },
      )
      figures.push({
        name: `a job of a worker with ${functions.toLocaleString('en-US')} functions`,
        unit: 'us/job',
        ours,
        against: { name: 'gearmand', samples: theirs },
        target,
      })
    }
    return figures
  },
}

/** Microseconds from a request for a job to its result, for one request at a time. */
async function perJob(port: number, functions: number): Promise<number> {
  const names = Array.from({ length: functions }, (_none, at) => `f${at}`)
  const client = await GearmanConnection.open({ port })
  const worker = await GearmanConnection.open({ port })
  for (let job = 0; job < jobs; job += 1) {
    client.send('SUBMIT_JOB_BG', names[(job * 37) % functions] ?? '', '', 'x')
    await client.expect('JOB_CREATED')
  }
  for (const name of names) worker.send('CAN_DO', name)
  await worker.send('ECHO_REQ', 'named').expect('ECHO_RES')
  const begunMs = performance.now()
  for (let job = 0; job < jobs; job += 1) {
    const { args } = await worker.send('GRAB_JOB').expect('JOB_ASSIGN')
    worker.send('WORK_COMPLETE', args[0] ?? '', '')
  }
  await worker.send('GRAB_JOB').expect('NO_JOB')
  const tookMs = performance.now() - begunMs
  for (const connection of [client, worker]) {
    connection.close()
    await connection.over
  }
  return (tookMs * usPerMs) / jobs
}
