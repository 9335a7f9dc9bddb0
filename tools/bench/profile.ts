// `npm run profile -- [foreground|latency|both|submit|cycle|apart|bridge] [jobs]`: where the gateway's time goes under load.
import { mkdtempSync, readdirSync, readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { withServers } from './bench.ts'
import { formatSelfTimes, selfTimes, type CpuProfile } from './cpu-profile.ts'
import { LoadGenerator, type Mode, type Phase } from './load-generator.ts'
import { startGateway } from './servers.ts'

const defaultJobs = 200_000
const shown = 40

const loads: Readonly<Record<string, { mode: Mode; phase: Omit<Phase, 'jobs'> }>> = {
  foreground: { mode: 'foreground', phase: {} },
  latency: { mode: 'foreground', phase: { window: 1 } },
  both: { mode: 'both', phase: {} },
  submit: { mode: 'submit', phase: {} },
  cycle: { mode: 'cycle', phase: { clients: 10, workers: 10 } },
  apart: { mode: 'apart', phase: { clients: 5, workers: 5, queues: 5 } },
  bridge: { mode: 'bridge', phase: { workers: 10 } },
}

const [name = 'foreground', jobsWord = String(defaultJobs)] = process.argv.slice(2)
const load = loads[name]
const jobs = Number(jobsWord)
if (load === undefined || !Number.isInteger(jobs) || jobs < 1) {
  process.stderr.write(`npm run profile -- [${Object.keys(loads).join('|')}] [jobs]\n`)
  process.exit(2)
}

const folder = mkdtempSync(join(tmpdir(), 'crossgear-profile-'))
const words = ['--cpu-prof', `--cpu-prof-dir=${folder}`]
const seconds = await withServers([() => startGateway({ nodeWords: words })], async ([gateway]) => {
  const driver = LoadGenerator.compile().drive(gateway!, jobs)
  const measured = await driver.run(load.mode, { jobs, ...load.phase })
  await driver.stop()
  return measured.seconds
})
const file = join(folder, readdirSync(folder)[0] ?? '')
const profile = JSON.parse(readFileSync(file, 'utf8')) as CpuProfile
const rate = Math.round(jobs / seconds).toLocaleString('en-US')
process.stdout.write(`${name}: ${rate} jobs/s under the profiler; self time without idling:\n\n`)
process.stdout.write(`${formatSelfTimes(selfTimes(profile), shown)}\n\n`)
process.stdout.write(`For DevTools (Performance, Load profile): ${file}\n`)
