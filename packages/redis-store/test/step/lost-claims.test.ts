import { describe, expect, test } from 'vitest'
import { LostClaims } from '../../src/step/lost-claims.ts'

/** Looks for the leases of lost claims, and tells what was looked for. */
async function looksOf(claims: LostClaims): Promise<string[]> {
  const looked: string[] = []
  await claims.settle((lane, first, end) => {
    looked.push(`${lane} ${first}-${end}`)
    return Promise.resolve()
  })
  return looked.toSorted()
}

describe('the leases of a claim without an answer', () => {
  test('are looked for five times: a server that was frozen may execute the claim late', async () => {
    const claims = new LostClaims()
    claims.add(['mail', 'sms'], 3, 2)
    for (let look = 0; look < 5; look += 1)
      expect(await looksOf(claims)).toEqual(['mail 3-5', 'sms 3-5'])
    expect(await looksOf(claims)).toEqual([])
  })

  test('are looked for again where a look fails', async () => {
    const claims = new LostClaims()
    claims.add(['mail'], 0, 1)
    for (let look = 0; look < 7; look += 1) {
      const failing = claims.settle(() => Promise.reject(new Error('away')))
      await expect(failing).rejects.toThrow('away')
    }
    for (let look = 0; look < 5; look += 1) expect(await looksOf(claims)).toEqual(['mail 0-1'])
    expect(await looksOf(claims)).toEqual([])
  })

  test('are looked for together with those of the next claims, until the first look', async () => {
    const claims = new LostClaims()
    claims.add(['mail'], 0, 2)
    claims.add(['sms'], 2, 1)
    expect(await looksOf(claims)).toEqual(['mail 0-3', 'sms 0-3'])
    claims.add(['fax'], 3, 1)
    for (let look = 0; look < 4; look += 1)
      expect(await looksOf(claims)).toEqual(['fax 3-4', 'mail 0-3', 'sms 0-3'])
    expect(await looksOf(claims)).toEqual(['fax 3-4'])
    expect(await looksOf(claims)).toEqual([])
  })
})
