import { spawnSync } from 'node:child_process'
import { lacksUnless } from '@crossgear/tools/lacks'
import { bundleGateway } from '@crossgear/tools/gateway-program'
import { lacksRedis } from '@crossgear/tools/redis-server'
import { beforeAll, describe, expect, test } from 'vitest'
import { prove } from './proof/prove.ts'
import { sources } from './proof/sources.ts'

const phpCheck = ['-r', 'exit(class_exists("GearmanWorker") ? 0 : 1);']
const lacksPhp = lacksUnless('php-gearman', () => spawnSync('php', phpCheck).status === 0)

/** `npm run prove -- migrate` does the same with 100,000 jobs of every source. */
describe.skipIf(lacksRedis || lacksPhp)('needs redis-server and php-gearman: the proof', () => {
  beforeAll(bundleGateway)

  test.each(['gearmand+sqlite', 'faktory+redis'])(
    '%s: each job arrives once and is done once, killed twice on its way',
    async (name) => {
      const source = await sources[name]?.(2_000)
      if (!source) throw new Error(`no source ${name}`)
      try {
        const proof = await prove(source, { jobs: 2_000, kills: 2 })
        expect(proof).toMatchObject({ faults: [], drained: 1_900, scheduled: 100 })
      } finally {
        await source.stop()
      }
    },
  )
})
