import { connected, GearmanConnection } from '@crossgear/peers'

/** How a client heard of its job: of its end, or in the background that it was taken. */
export interface Outcome {
  readonly succeeded: boolean
  readonly output: Buffer
}

/** Submits one job over a socket and waits for the packet that settles it. */
export async function submitByHand(
  port: number,
  fn: string,
  payload: Buffer,
  background: boolean,
): Promise<Outcome> {
  const client = new GearmanConnection(await connected({ port }))
  client.send(background ? 'SUBMIT_JOB_BG' : 'SUBMIT_JOB', fn, '', payload)
  try {
    for (;;) {
      const { name, args } = await client.answer()
      if (name === 'JOB_CREATED' && !background) continue
      const succeeded = name === 'WORK_COMPLETE' || name === 'JOB_CREATED'
      return { succeeded, output: args[1] ?? Buffer.alloc(0) }
    }
  } finally {
    client.close()
  }
}
