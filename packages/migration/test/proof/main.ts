/**
 * Proves that each job arrives once, for each source that can be run here: `npm run prove -- migrate [--jobs 100000]
 * [--kills 10] [--source gearmand+sqlite]...`. Prints a line for each; ends with 1 where something was wrong.
 */
import { parseArgs } from 'node:util'
import { bundleGateway } from '@crossgear/tools/gateway-program'
import { prove } from './prove.ts'
import { sources } from './sources.ts'

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    jobs: { type: 'string', default: '100000' },
    kills: { type: 'string', default: '10' },
    source: { type: 'string', multiple: true, default: Object.keys(sources) },
  },
})
const unknown = values.source.filter((name) => !sources[name])
if (positionals.join() !== 'migrate' || unknown.length > 0) {
  const names = Object.keys(sources).join(', ')
  process.stderr.write(`npm run prove -- migrate [--jobs n] [--kills n] [--source ${names}]\n`)
  process.exit(1)
}
bundleGateway()
const [jobs, kills] = [Number(values.jobs), Number(values.kills)]
const say = (line: string): void => void process.stdout.write(`${line}\n`)
say(
  '| source | jobs | copy, s | jobs/s | memory, MB | killed | done by workers | scheduled | wrong |',
)
say('| --- | --- | --- | --- | --- | --- | --- | --- | --- |')
for (const name of values.source) {
  const source = await sources[name]?.(jobs)
  if (!source) continue
  try {
    const {
      seconds,
      peakMb,
      kills: killed,
      drained,
      scheduled,
      faults,
    } = await prove(source, { jobs, kills })
    const rate = seconds === undefined ? '-' : Math.round(jobs / seconds)
    const cells = [name, jobs, seconds?.toFixed(1) ?? '-', rate, peakMb ?? '-', killed, drained]
    say(`| ${[...cells, scheduled, faults.join('; ') || 'nothing'].join(' | ')} |`)
    if (faults.length > 0) process.exitCode = 1
  } finally {
    await source.stop()
  }
}
