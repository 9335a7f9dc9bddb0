import { expect, test } from 'vitest'
import { SpecPeer } from '@crossgear/tools/spec-peer'
import { describeGearman, type GearmanGateway } from './support/gearman-gateway.ts'

const rounds = 40

/** Jobs of gateways in lanes that the registry does not have, at one moment. */
const invisible = `
local found = {}
for _, key in ipairs(redis.call('KEYS', 'queue:*:normal')) do
  local lane = string.match(key, '^queue:(.*):normal$')
  for _, id in ipairs(redis.call('LRANGE', key, 0, -1)) do
    local isOurs = redis.call('HEXISTS', 'job:' .. lane .. ':' .. id, 'door') == 1
    if isOurs and redis.call('HEXISTS', 'xg:lanes', lane) == 0 then found[#found + 1] = lane .. ' ' .. id end
  end
end
return found`

/** Submits jobs, each when the one before was acknowledged, until told to stop. */
class Stream {
  acknowledged = 0
  #goesOn = true
  readonly #ended: Promise<void>

  constructor(gateway: GearmanGateway, fn: string) {
    this.#ended = this.#run(gateway, fn)
  }

  async #run(gateway: GearmanGateway, fn: string): Promise<void> {
    const client = await gateway.peer()
    while (this.#goesOn) {
      await client.submit('SUBMIT_JOB_BG', fn, '', 'x')
      this.acknowledged += 1
    }
  }

  stop(): Promise<void> {
    this.#goesOn = false
    return this.#ended
  }
}

describeGearman(
  'needs redis-server: functions that are dropped under load',
  ({ open, connection }) => {
    test.each(['drop function', 'FLUSH'] as const)(
      'leave no acknowledged job where nobody finds it: %s',
      async (how) => {
        const [here, there] = [await open(), await open()]
        const operator = await here.peer()
        const native = new SpecPeer(connection())
        const streams = ['one', 'two'].map((fn) => new Stream(there, fn))
        const drop = async (): Promise<void> => {
          if (how === 'FLUSH') await here.scheduler.queues.flush()
          else for (const fn of ['one', 'two']) await operator.command(`drop function ${fn}`)
        }
        for (let round = 1; round <= rounds; round += 1) {
          const areFlowing = (): boolean =>
            streams.every(({ acknowledged }) => acknowledged >= round)
          await expect.poll(areFlowing, { interval: 1 }).toBe(true)
          await Promise.all([drop(), native.submit('one', 'native')])
          expect(await connection().eval(invisible, 0)).toEqual([])
        }
        await Promise.all(streams.map((stream) => stream.stop()))
        expect(await connection().eval(invisible, 0)).toEqual([])
        const client = await there.peer()
        for (const fn of ['one', 'two']) await client.submit('SUBMIT_JOB_BG', fn, '', 'last')
        const worker = await here.worker('one', 'two')
        let [kind, handle = ''] = await worker.ask('GRAB_JOB')
        while (kind === 'JOB_ASSIGN') {
          worker.send('WORK_COMPLETE', handle, '')
          ;[kind, handle = ''] = await worker.ask('GRAB_JOB')
        }
        expect(await connection().keys('queue:*')).toEqual([])
      },
    )
  },
)
