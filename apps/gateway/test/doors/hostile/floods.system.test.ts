import type { Socket } from 'node:net'
import { describe, expect, onTestFinished, test } from 'vitest'
import { floods } from '@crossgear/tools/floods'
import { lacksRedis } from '@crossgear/tools/redis-server'
import { Target } from './support/target.ts'

/** The others have tests of their own: hostile.test.ts, and test/tls. */
const poured = floods.filter(({ name, tls = false }) => !tls && !name.includes('idle'))
const floodedBytes = 200_000

describe.skipIf(lacksRedis)('floods', () => {
  test.each(poured)('$name leaves others served and the memory bounded', async ({ begin }) => {
    const target = await Target.start()
    onTestFinished(() => target.stop())
    await target.withstands(async () => {
      const sockets = await begin(target.ports)
      const poured = (): number => sockets.reduce((sum, socket) => sum + sent(socket), 0)
      await expect.poll(poured).toBeGreaterThan(floodedBytes)
      for (const socket of sockets) socket.destroy()
    })
  })
})

/** Bytes that have left this process. */
function sent({ bytesWritten, writableLength }: Socket): number {
  return bytesWritten - writableLength
}
