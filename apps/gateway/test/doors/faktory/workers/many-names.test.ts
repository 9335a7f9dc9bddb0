import { expect, test } from 'vitest'
import { InputBudget } from '../../../../src/doors/net/input-budget.ts'
import { describeFaktory } from '../support/faktory-gateway.ts'

const fetchLine = (names: number, first = 0) =>
  `FETCH ${Array.from({ length: names }, (_, n) => `${first + n}-`.padEnd(200, 'x')).join(' ')}`
const tooMuch = '-ERR the gateway holds too much already: name fewer queues, or try again later'

describeFaktory('the names of queues in a FETCH', (gateways) => {
  /** A door with room for the names of three such requests. */
  const open = () =>
    gateways.open({ connectionLimits: { inputBudget: new InputBudget(4_000_000) } })

  test('count as long as it waits: one too many is refused, and fits again later', async () => {
    const { client, clock, rejections } = await open()
    const waiting = [await client(), await client(), await client()]
    for (const [at, worker] of waiting.entries()) worker.send(fetchLine(1_000, at * 1_000))
    await clock.armed(2_000, 3)
    const late = await client()
    expect(await late.ask(fetchLine(1_000, 3_000))).toBe(tooMuch)
    expect(rejections).toEqual(['buffer'])
    clock.advance(2_000)
    for (const worker of waiting) expect(await worker.reply()).toBe('$-1')
    for (const worker of waiting) worker.close()
    await expect
      .poll(async () => {
        late.send(fetchLine(1_000, 4_000))
        const isWaiting = clock.armed(2_000).then(() => 'waits')
        return await Promise.race([late.reply(), isWaiting])
      })
      .toBe('waits')
  })

  test('of an honest worker have room, however much the others hold', async () => {
    const { client, clock } = await open()
    const waiting = [await client(), await client(), await client()]
    for (const [at, worker] of waiting.entries()) worker.send(fetchLine(1_000, at * 1_000))
    await clock.armed(2_000, 3)
    const worker = await client()
    await worker.push('12345678')
    expect(await worker.ask('FETCH critical default bulk')).toContain('12345678')
  })
})
