import { createServer } from 'node:net'
import { expect, test } from 'vitest'
import { freePort } from '../testing/free-port.ts'

test.skipIf(process.platform !== 'linux')(
  'a free port is its finder alone while that process runs',
  async () => {
    const port = await freePort()
    const asAnother = createServer().listen(`\0crossgear-port-${port}`)
    const outcome = await new Promise((resolve) => {
      asAnother.once('listening', () => resolve('found it, too'))
      asAnother.once('error', ({ code }: NodeJS.ErrnoException) => resolve(code))
    })
    expect(outcome).toBe('EADDRINUSE')
  },
)
