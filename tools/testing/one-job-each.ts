import { GearmanConnection } from '@crossgear/peers'

/** Submits a background job of each function `f1` to `f<count>` at a Gearman port. Resolves when all are accepted. */
export async function oneJobEach(port: number, count: number): Promise<void> {
  const client = await GearmanConnection.open({ port })
  for (let at = 1; at <= count; at += 1) client.send('SUBMIT_JOB_BG', `f${at}`, '', 'input')
  for (let left = count; left > 0; left -= 1) await client.expect('JOB_CREATED')
  client.close()
}
