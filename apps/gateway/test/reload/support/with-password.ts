import { hashPassword } from '@crossgear/fwp-codec'
import { FwpClient } from '../../faktory/support/fwp-client.ts'

/** A Faktory client that proves to know a password. Throws the refusal. */
export async function withPassword(
  port: number,
  password: string,
  wid: string,
): Promise<FwpClient> {
  const client = await FwpClient.connect(port)
  const hi = JSON.parse((await client.reply()).slice('+HI '.length)) as { s: string; i: number }
  const pwdhash = hashPassword(password, hi.s, hi.i)
  const answer = await client.ask(`HELLO ${JSON.stringify({ v: 2, wid, pwdhash })}`)
  if (answer === '+OK') return client
  client.close()
  throw new Error(answer)
}
