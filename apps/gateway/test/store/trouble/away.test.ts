import { lacksRedis } from '@crossgear/tools/redis-server'
import { describe, expect, test } from 'vitest'
import { storeServer } from './support/store-server.ts'
import { TroubledGateway } from './support/troubled-gateway.ts'

/** Too many keys to be read in a moment. */
const manyKeys = `for n = 1, 3000 do redis.call('SET', 'filler:' .. n, string.rep('x', 100)) end`
const slowReading = ['--key-load-delay', '1000', '--loading-process-events-interval-bytes', '1024']

const durable = ['--appendonly', 'yes', '--appendfsync', 'always']

describe.skipIf(lacksRedis)('a store that is away, with redis-server:', () => {
  test('frozen: every door answers with an error, and works again when it thaws', async () => {
    const server = await storeServer()
    const gateway = await TroubledGateway.open(server)
    server.freeze()
    await gateway.refusesJobs(
      /^-ERR the job store (does not answer|cannot be reached)/,
      /^store (TIMEOUT|UNREACHABLE): (?!Stream)|^the store gave no answer/,
    )
    await gateway.givesNoJobs()
    server.thaw()
    await gateway.takesJobs()
    await gateway.runsJobs()
  })

  test('killed and started again: every door still has its jobs', async () => {
    const server = await storeServer(...durable)
    const gateway = await TroubledGateway.open(server)
    await server.kill()
    await gateway.refusesJobs(
      /^-ERR the job store cannot be reached/,
      /^store UNREACHABLE: .*ECONNREFUSED/,
    )
    await gateway.givesNoJobs()
    await server.start()
    await gateway.takesJobs()
    await gateway.runsJobs()
    const words = gateway.logged.filter((line) => line.startsWith('The store '))
    // A connection that is reset while it writes says so.
    expect(words).toEqual([
      expect.stringMatching(/^The store cannot be reached \(.+\): trying again\.$/),
      'The store answers again.',
    ])
  })

  test('reading its data: every door answers with an error, and works again after that', async () => {
    const server = await storeServer()
    const gateway = await TroubledGateway.open(server)
    await server.ask('EVAL', manyKeys, '0')
    await server.ask('SAVE')
    await server.kill()
    const started = server.start(...slowReading)
    await gateway.refusesJobs(
      /^-ERR the job store cannot be reached/,
      /^store UNREACHABLE: LOADING/,
    )
    await gateway.givesNoJobs()
    await started
    await gateway.takesJobs()
    await gateway.runsJobs()
  })
})
