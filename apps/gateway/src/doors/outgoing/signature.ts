import { createHmac } from 'node:crypto'

/** `t=<seconds since 1970>,v1=<hex>`: the HMAC-SHA256 of `<seconds>.<body>`, as Stripe signs its webhooks. */
export function signatureOf(secret: string, body: Uint8Array, nowMs: number): string {
  const seconds = Math.floor(nowMs / 1000)
  const digest = createHmac('sha256', secret).update(`${seconds}.`).update(body).digest('hex')
  return `t=${seconds},v1=${digest}`
}
