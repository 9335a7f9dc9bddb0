import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { LogFile } from '../log/log-file.ts'
import { narrowConcurrency, narrowLane, tickLane } from '../peers/tasks.ts'

/** Entries of cron, one for each second from now. */
const tickCount = 240

/** An entry of cron with one tick, and the key of its job. */
interface Tick {
  readonly at: Date
  readonly key: string
}

/** Writes the configuration of all gateways, with a throttle. Returns its path. */
export function writeConfig(folder: string, ticks: readonly Tick[] = []): string {
  const path = join(folder, 'gateways.toml')
  const [, throttled = ''] = narrowLane.split('@')
  const throttle = `[throttles.${throttled}]\nconcurrency = ${narrowConcurrency}\n`
  writeFileSync(path, [throttle, ...ticks.map(entryOf)].join('\n'))
  return path
}

/** Ticks from now on. Their jobs are logged as such that may come. */
export function ticks(folder: string): Tick[] {
  const log = new LogFile(join(folder, 'cron.jobs'))
  const all = Array.from({ length: tickCount }, (_, at) => ({
    at: new Date(Date.now() + (at + 1) * 1000),
    key: `client-faktory-tick-${at}`,
  }))
  for (const { key } of all) log.note('attempt', key)
  log.flush()
  return all
}

function entryOf({ at, key }: Tick): string {
  const [type = '', queue = ''] = tickLane.split('@')
  const time = [at.getUTCSeconds(), at.getUTCMinutes(), at.getUTCHours()]
  const schedule = [...time, at.getUTCDate(), at.getUTCMonth() + 1, '*'].join(' ')
  const job = `{ type = "${type}", queue = "${queue}", args = ["${key}"] }`
  return `[[cron]]\nschedule = "${schedule}"\njob = ${job}\n`
}
