import { join } from 'node:path'
import { LogFile } from '../log/log-file.ts'
import { answerWithinMs, type Way } from '../peers/doors.ts'
import { openGearman, sayGearman } from '../peers/protocols/gearman-link.ts'

/** Submits one job, noted as any client's. */
export async function submitInBackground(
  way: Way,
  folder: string,
  lane: string,
  key: string,
): Promise<void> {
  const log = new LogFile(join(folder, `client-${key}.jobs`))
  const link = await openGearman(way.gearman)
  log.note('attempt', key)
  sayGearman(link, 'SUBMIT_JOB_BG', lane, '', key)
  const { name } = await link.next(answerWithinMs)
  if (name === 'JOB_CREATED') log.note('ack', key)
  log.flush()
  link.close()
}
