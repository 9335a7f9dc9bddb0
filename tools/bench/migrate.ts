/** Moves 100,000 jobs (or so many as are asked for) into a local store, killed ten times and in one go: `npm run bench:migrate`. */
import { randomInt } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import { RedisServer } from '@crossgear/tools/redis-server'
import { fillFaktory, fillTable, migrate } from './migrations.ts'

const jobs = Number(process.argv[2] ?? 100_000)
const kills = 10

async function measure(name: string, from: string, target: RedisServer): Promise<void> {
  const sides = ['--from', from, '--to', target.url]
  const whole = await migrate(['run', ...sides])
  const rate = Math.round(jobs / whole.seconds)
  process.stdout.write(
    `${name}: ${jobs} jobs in ${whole.seconds.toFixed(1)} s with the start of the program, ${rate}/s, ${whole.peakMb} MB at most\n`,
  )
  process.stdout.write(`${name}: ${whole.out.trim().split('\n').at(-1) ?? ''}\n`)
  const verified = await migrate(['verify', ...sides])
  process.stdout.write(
    `${name}: verify ends with ${verified.code}: ${verified.out.trim().split('\n').at(-1) ?? ''}\n`,
  )
  await target.ask('FLUSHALL')
  const afterMs = (whole.seconds * 1000) / kills
  let killed = 0
  for (let time = 0; time < kills; time += 1) {
    const { code } = await migrate(
      ['run', ...sides, '--move'],
      300 + randomInt(Math.ceil(2 * afterMs)),
    )
    if (code === null) killed += 1
  }
  const rest = await migrate(['run', ...sides, '--move'])
  const proved = await migrate(['verify', ...sides, '--move'])
  process.stdout.write(
    `${name}: moved, killed ${killed} times; the last run ends with ${rest.code}: ${rest.out.trim().split('\n').at(-1) ?? ''}\n`,
  )
  process.stdout.write(
    `${name}: verify ends with ${proved.code}: ${proved.out.trim().split('\n').at(-1) ?? ''}\n`,
  )
  const counted = await target.ask(
    'EVAL',
    "local n = 0 for _, key in ipairs(redis.call('KEYS', 'job:*')) do n = n + 1 end return n",
    '0',
  )
  process.stdout.write(`${name}: ${counted} jobs are in the store\n`)
}

const folder = mkdtempSync(join(tmpdir(), 'xg-bench-migrate-'))
const [source, target] = await Promise.all([RedisServer.start(), RedisServer.start()])
try {
  const path = join(folder, 'queue.sqlite')
  fillTable(path, jobs)
  await measure('gearmand+sqlite', `gearmand+sqlite://${path}`, target)
  await target.ask('FLUSHALL')
  const redis = source.connect()
  await fillFaktory(redis, jobs)
  redis.disconnect()
  await measure('faktory+redis', `faktory+unix://${source.path}`, target)
  process.stdout.write(`load of the machine: ${loadavg()
    .map((load) => load.toFixed(1))
    .join(' ')}
`)
} finally {
  await Promise.all([source.stop(), target.stop()])
  rmSync(folder, { recursive: true })
}
