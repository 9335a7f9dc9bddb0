import { lacks } from '../../testing/lacks.ts'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { LoadGenerator, type Driver } from '../../bench/load-generator.ts'
import { FaultyServer, type Fault } from './faulty-server.ts'

/** In CI nothing is skipped: the compiler must be there. */
const lacksCompiler = lacks('cc', '--version')
const jobCount = 50

async function drive(generator: LoadGenerator, fault: Fault = {}): Promise<Driver> {
  const server = new FaultyServer(fault)
  const port = await server.listen()
  const target = { name: 'server', port, faktoryPort: 0, pids: [], stop: async () => undefined }
  const driver = generator.drive(target, 10 * jobCount)
  onTestFinished(async () => {
    await driver.stop()
    server.close()
  })
  return driver
}

function lastByteChanged(bytes: Buffer): Buffer {
  const changed = Buffer.from(bytes)
  changed[changed.length - 1] = 0
  return changed
}

describe.skipIf(lacksCompiler)('the load generator, where there is a C compiler (cc)', () => {
  let generator: LoadGenerator
  beforeAll(() => {
    generator = LoadGenerator.compile()
  })
  afterAll(() => generator.remove())

  test('a server that does each job once is measured, phase after phase', async () => {
    const driver = await drive(generator)
    const { latency, seconds } = await driver.run('foreground', { jobs: jobCount })
    expect(seconds).toBeGreaterThan(0)
    expect(latency.reduce((sum, [, count]) => sum + count, 0)).toBe(jobCount)
    await driver.run('submit', { jobs: 2 * jobCount, unique: true })
    await driver.run('drain', { jobs: jobCount, unique: true })
    await driver.run('drain', { jobs: jobCount, unique: true })
    await driver.run('both', { jobs: jobCount, window: 1 })
  })

  test('a job handed out in the place of another is detected', async () => {
    const driver = await drive(generator, {
      assigned: (payload, place, all) => (place === 3 ? all[2]! : payload),
    })
    await driver.run('submit', { jobs: jobCount })
    await expect(driver.run('drain', { jobs: jobCount })).rejects.toThrow(
      'exactly once (drain): 1 missing, 0 unheard, 1 twice, 0 wrong',
    )
  })

  test('a changed byte of a payload is detected', async () => {
    const driver = await drive(generator, {
      assigned: (payload, place) => (place === 3 ? lastByteChanged(payload) : payload),
    })
    await driver.run('submit', { jobs: jobCount })
    await expect(driver.run('drain', { jobs: jobCount })).rejects.toThrow(
      '1 missing, 0 unheard, 0 twice, 1 wrong',
    )
  })

  test('a result delivered twice is detected', async () => {
    const driver = await drive(generator, { heard: (place) => (place === 3 ? 2 : 1) })
    await expect(driver.run('foreground', { jobs: jobCount })).rejects.toThrow('1 twice')
  })

  test.each<[string, Fault]>([
    ['is lost', { heard: (place) => (place === 3 ? 0 : 1) }],
    [
      'has other bytes',
      { result: (bytes, place) => (place === 3 ? lastByteChanged(bytes) : bytes) },
    ],
  ])('a result that %s ends the run', async (_, fault) => {
    const driver = await drive(generator, fault)
    const run = driver.run('foreground', { jobs: jobCount, stall_s: 1 })
    await expect(run).rejects.toThrow('broke off')
  })
})
