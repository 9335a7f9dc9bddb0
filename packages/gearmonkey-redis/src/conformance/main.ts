import { messageOf } from '../native/errors.ts'
import { readArguments, usage } from './arguments.ts'
import { ClientCheck } from './client-check.ts'
import { Probe } from './probe.ts'
import { Report } from './report.ts'
import { WorkerCheck } from './worker-check.ts'

/**
 * The command `gearmonkey-conformance`.
 * @param write takes each line of the report
 * @returns the exit code: 0 all MUSTs hold, 1 some fail, 2 wrong use or no server
 */
export async function main(
  argv: readonly string[],
  write: (line: string) => void,
): Promise<0 | 1 | 2> {
  let probe: Probe | undefined
  try {
    const args = readArguments(argv)
    if (!args) {
      write(usage)
      return 0
    }
    probe = await Probe.open(args.redisUrl)
    const report = new Report(write)
    const check =
      args.kind === 'client'
        ? new ClientCheck(args, probe, report)
        : new WorkerCheck(args, probe, report)
    await check.run()
    return report.close()
  } catch (error) {
    write(`gearmonkey-conformance: ${messageOf(error)}`)
    return 2
  } finally {
    probe?.close()
  }
}
