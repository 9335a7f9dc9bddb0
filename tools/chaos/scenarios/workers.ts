import { setTimeout as delay } from 'node:timers/promises'
import { poisonMark } from '../peers/tasks.ts'
import { lastingThrough, type Scenario } from './scenario.ts'
import { join } from 'node:path'
import { LogFile } from '../log/log-file.ts'
import { openGearman, type Way } from '../peers/doors.ts'

/** Most kills; fewer with few jobs. */
const maxKills = 50
const jobsPerKill = 100
const betweenKillsMs = 300

function frozen(seconds: number): Scenario {
  return {
    name: `workers-frozen-${seconds}`,
    about: `a worker of each door is stopped with SIGSTOP for ${seconds} s`,
    ...lastingThrough(seconds),
    async play(stage) {
      await stage.share(0.25)
      const workers = [...stage.workers]
      // One worker must go on; the others are frozen one after the other.
      const freeze = workers.map((worker) =>
        stage.fault('worker frozen', worker.name, async () => {
          worker.process.freeze()
          await delay(seconds * 1000)
          worker.process.thaw()
        }),
      )
      await Promise.all(freeze)
    },
  }
}

/** Workers that die. */
export const workerScenarios: readonly Scenario[] = [
  {
    name: 'workers-killed',
    about: 'workers of all doors are killed and replaced, 50 times',
    quick: true,
    waits: true,
    settleWithinSeconds: 90,
    async play(stage) {
      const kills = Math.min(maxKills, Math.ceil(stage.jobs / jobsPerKill))
      await stage.share(0.1)
      for (let kill = 0; kill < kills; kill += 1) {
        const { workers } = stage
        if (workers.length > 0) await stage.killWorker(stage.random.pick(workers))
        await delay(betweenKillsMs)
      }
    },
  },
  frozen(5),
  frozen(20),
  frozen(70),
  {
    name: 'poison-job',
    about: 'jobs that kill each worker that takes them are given up after three; others are done',
    jobShare: 0.25,
    maxLosses: 3,
    settleWithinSeconds: 120,
    async play(stage) {
      await stage.share(0.2)
      for (const lane of ['alpha', 'gamma@bulk']) {
        await submitInBackground(stage.gateways[0]!, stage.folder, lane, `${poisonMark}-${lane}`)
      }
    },
  },
]

/** Submits one job, noted as any client's. */
async function submitInBackground(
  way: Way,
  folder: string,
  lane: string,
  key: string,
): Promise<void> {
  const log = new LogFile(join(folder, `client-${key}.jobs`))
  const link = await openGearman(way)
  log.note('attempt', key)
  link.send('SUBMIT_JOB_BG', lane, '', key)
  const { name } = await link.answer()
  if (name === 'JOB_CREATED') log.note('ack', key)
  log.flush()
  link.close()
}
