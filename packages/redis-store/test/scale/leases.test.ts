import { lacksRedis } from '@crossgear/tools/redis-server'
import { afterEach, beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import { FilledStore } from './filled-store.ts'

const lanes = Array.from({ length: 20 }, (_none, at) => `f${at + 1}`)
const leasesPerLane = 120
/** Leases that a node holds in one lane, and about how many of them a script looks at. */
const heldLeases = 3_000
const perPiece = 500
/** Expired leases that a script lists at most: those of the lanes until 250 are found. */
const maxPerScript = 3 * leasesPerLane

describe.skipIf(lacksRedis)(`expired leases of ${lanes.length} functions`, () => {
  let filled: FilledStore

  beforeEach(async () => {
    filled = await FilledStore.open()
    await filled.fillLanes(lanes.length)
    const lua = `
for number = first, last do
  for id = 1, ${leasesPerLane} do
    local lane = 'f' .. number
    redis.call('HSET', 'job:' .. lane .. ':' .. id, 'status', 'busy', 'token', 'cnode-' .. id, 'door', 'faktory', 'input', '1')
    redis.call('ZADD', 'xg:busy:' .. lane, id, id)
  end
end`
    await filled.fill(lanes.length, lua)
  })
  afterEach(() => filled.close())

  test('are all listed, by scripts of which each lists a part', async () => {
    const { jobs } = await filled.world.node()
    const found: string[] = []
    const scripts = await filled.scripts(async () => {
      for (const { lane, id } of await jobs.expired(lanes, leasesPerLane))
        found.push(`${lane} ${id}`)
    })
    expect(found.length).toBe(lanes.length * leasesPerLane)
    expect(new Set(found).size).toBe(found.length)
    const read = scripts.map(
      (script) => script.filter(([name, , field]) => name === 'hmget' && field === 'token').length,
    )
    expect(read.reduce((sum, count) => sum + count, 0)).toBe(found.length)
    expect(Math.max(...read)).toBe(maxPerScript)
  })
})

test.skipIf(lacksRedis)('the leases of a node in one lane are listed piece by piece', async () => {
  const filled = await FilledStore.open()
  onTestFinished(() => filled.close())
  await filled.fillQueue('mail', heldLeases)
  const store = await filled.world.node()
  const groups = [{ lanes: ['mail'] }]
  for (let taken = 0; taken < heldLeases; taken += 500)
    await store.steps.claim({ by: 'named', groups, max: 500 })
  const found: number[] = []
  const scripts = await filled.scripts(async () => {
    for (const { id } of await store.jobs.held(['mail'])) found.push(id)
  })
  expect(new Set(found).size).toBe(heldLeases)
  expect(found.length).toBe(heldLeases)
  const read = scripts.map((script) => script.filter(([name]) => name === 'hmget').length)
  expect(Math.max(...read)).toBeLessThan(1.5 * perPiece)
})
