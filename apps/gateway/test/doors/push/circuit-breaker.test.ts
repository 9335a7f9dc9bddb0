import { ManualClock } from '@crossgear/core-scheduler/manual-clock'
import { expect, test } from 'vitest'
import { CircuitBreaker } from '../../../src/doors/push/circuit-breaker.ts'

function startBreaker() {
  const clock = new ManualClock()
  const states: string[] = []
  const limits = { maxFailures: 2, restMs: 1000 }
  const breaker = new CircuitBreaker(limits, clock, () => states.push(breaker.state))
  return { clock, breaker, states }
}

test('a failure in the test after a rest begins another rest', async () => {
  const { clock, breaker, states } = startBreaker()
  breaker.failed()
  breaker.answered()
  breaker.failed()
  expect(breaker.state).toBe('closed')
  breaker.failed()
  await clock.advance(999)
  expect(breaker.state).toBe('open')
  await clock.advance(1)
  breaker.failed()
  await clock.advance(1000)
  breaker.answered()
  expect(states).toEqual(['open', 'half-open', 'open', 'half-open', 'closed'])
})

test('a target that asks for a longer rest gets it, and a shorter one changes nothing', async () => {
  const { clock, breaker } = startBreaker()
  breaker.rest(1000)
  breaker.rest(3000)
  breaker.rest(500)
  await clock.advance(2999)
  expect(breaker.state).toBe('open')
  await clock.advance(1)
  expect(breaker.state).toBe('half-open')
})

test('answers from before a rest do not end it', () => {
  const { breaker } = startBreaker()
  breaker.rest(1000)
  breaker.answered()
  breaker.failed()
  expect(breaker.state).toBe('open')
})

test('once stopped it leaves no timer behind, whatever is still answered', () => {
  const { clock, breaker, states } = startBreaker()
  breaker.rest(1000)
  breaker.stop()
  expect(clock.pending).toBe(0)
  breaker.rest(5000)
  for (let failures = 0; failures < 5; failures += 1) breaker.failed()
  expect(clock.pending).toBe(0)
  expect(states).toEqual(['open'])
})
