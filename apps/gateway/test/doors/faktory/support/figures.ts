import type { FwpClient } from './fwp-client.ts'

/** INFO's figures about jobs. */
export interface Figures {
  readonly scheduled: number
  readonly retries: number
  readonly dead: number
  readonly working: number
  readonly enqueued: number
  readonly processed: number
  readonly failures: number
}

export const nothing: Figures = {
  scheduled: 0,
  retries: 0,
  dead: 0,
  working: 0,
  enqueued: 0,
  processed: 0,
  failures: 0,
}

export async function figures(client: FwpClient): Promise<Figures> {
  const info = (await client.askJson('INFO'))['faktory'] as unknown as {
    readonly sets: Pick<Figures, 'scheduled' | 'retries' | 'dead' | 'working'>
    readonly total_processed: number
    readonly total_failures: number
    readonly total_enqueued: number
  }
  return {
    ...info.sets,
    enqueued: info.total_enqueued,
    processed: info.total_processed,
    failures: info.total_failures,
  }
}

/** INFO's figures of queues and tasks. */
export interface Info {
  readonly queues: Readonly<Record<string, number>>
  readonly total_queues: number
  readonly tasks: Readonly<Record<string, Readonly<Record<string, number>>>>
}

export async function infoOf(client: FwpClient): Promise<Info> {
  return (await client.askJson('INFO'))['faktory'] as unknown as Info
}
