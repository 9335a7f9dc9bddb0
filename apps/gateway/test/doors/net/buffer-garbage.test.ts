import { expect, test } from 'vitest'
import { BufferGarbage } from '../../../src/doors/net/buffer-garbage.ts'

const mib = 1024 * 1024

test('garbage of buffers is collected after each 4 MiB, in whatever pieces it is made', () => {
  let collections = 0
  const garbage = new BufferGarbage(() => (collections += 1))
  for (let piece = 0; piece < 1024; piece += 1) garbage.made(64 * 1024)
  expect(collections).toBe(16)
})

test('few megabytes of buffers are garbage at a time', () => {
  const garbage = new BufferGarbage()
  const before = process.memoryUsage().arrayBuffers
  let most = 0
  for (let piece = 0; piece < 1024; piece += 1) {
    garbage.made(Buffer.alloc(64 * 1024).length)
    most = Math.max(most, process.memoryUsage().arrayBuffers - before)
  }
  expect(most).toBeLessThan(12 * mib)
})
