import { existsSync, readFileSync } from 'node:fs'
import type { Lacking } from '@crossgear/tools/lacks'
import { describe, expect, test } from 'vitest'
import { lacksRedis } from '@crossgear/tools/redis-server'
import { flagOf, type OptionName, optionNames, variablesOf } from '../../../src/config/options.ts'
import { lacksOpenssl } from '../../doors/tls/support/certificates.ts'
import type { Cases } from './cases/case.ts'
import { jobCases } from './cases/jobs.ts'
import { limitCases } from './cases/limits.ts'
import { ownProcessCases } from './cases/own-process.ts'
import { outside, portCases } from './cases/ports.ts'
import { openOnRedis } from './composed-gateway.ts'
import { type ElsewhereCase, optionCases } from './option-cases.ts'

const testFolder = new URL('../../', import.meta.url)

const { open, redis } = openOnRedis({ isEmptied: true })
const cases: Cases = {
  ...portCases(open),
  ...jobCases(open, redis),
  ...limitCases(open),
}
const missing: Partial<Record<OptionName, Lacking>> = {
  adminFrom: outside === undefined && 'an address besides loopback',
  keepaliveSeconds: !existsSync('/proc/net/tcp') && '/proc/net/tcp',
  gearmanTlsCa: lacksOpenssl,
  gearmanTlsVerifyClients: lacksOpenssl,
}

describe('each option changes something', () => {
  const elsewhere = optionNames.filter((name) => optionCases[name] !== 'here')

  test('and has a case that sees it', () => {
    expect(optionNames.filter((name) => optionCases[name] === undefined)).toEqual([])
  })

  test.each(elsewhere)('%s, in an existing test', (name) => {
    const { file, title, writes } = optionCases[name] as ElsewhereCase
    const text = readFileSync(new URL(file, testFolder), 'utf8')
    expect(text).toContain(title)
    expect(
      [flagOf(name), ...variablesOf(name), writes].some((word) => word && text.includes(word)),
    ).toBe(true)
  })

  test('has a case here exactly if the table says so', () => {
    const here = optionNames.filter((name) => optionCases[name] === 'here')
    const all = { ...cases, ...ownProcessCases(redis) }
    expect(Object.keys(all).sort()).toEqual([...here].sort())
  })
})

describe.skipIf(lacksRedis)('each option, with redis-server', () => {
  for (const name of optionNames) {
    const look = cases[name]
    if (look) test.skipIf(missing[name])(`${flagOf(name)} changes what is seen`, look)
  }
})
