import { expect, test } from 'vitest'
import { startGateway } from '../support/gateway-process.ts'

test.each(['gearman', 'faktory'])(
  'a gateway whose %s certificate is missing reports that in one line and does not start',
  async (door) => {
    const files = [`--${door}-tls-cert`, '/no/such.crt', `--${door}-tls-key`, '/no/such.key']
    const { code, stderr } = await startGateway(files).exited
    expect(stderr).toBe(`--${door}-tls-cert names /no/such.crt, which cannot be read (ENOENT).\n`)
    expect(code).toBe(2)
  },
)
