import { writeFileSync } from 'node:fs'
import { lacksRedis } from '@crossgear/tools/redis-server'
import { describe, expect, test } from 'vitest'
import { elsewhere, sent } from '../../web/api/support/api-gateway.ts'
import { as, hashes, type Name, passwords } from '../../web/api/support/people.ts'
import { gatewayOfTest, wordsOn } from '../../support/gateway-process.ts'
import { redisOfSuite } from '../../support/redis-of-suite.ts'
import { configFile } from '../../support/temporary-folder.ts'

const redis = redisOfSuite()
const login = '/api/v1/session'

const table = (name: Name, role: string): string =>
  `[operators.${name}]\npassword_hash = "${hashes[name]}"\nrole = "${role}"\n`

describe.skipIf(lacksRedis)('a reload', () => {
  test('takes people over, ends sessions of those who are gone, and refuses a wrong role', async () => {
    const config = await configFile(table('bob', 'operate') + table('carol', 'admin'))
    const words = [...wordsOn(redis(), 'gearman', 'web'), '--config', config]
    const { port } = await gatewayOfTest(words).ready
    const web = port('web')
    const reload = () => sent(web, '/api/v1/reload', { method: 'POST', headers: as('carol') })
    const body = { name: 'bob', password: passwords.bob }
    const { headers } = await sent(web, login, { method: 'POST', body })
    const cookie = headers['set-cookie']?.[0]?.split(';')[0] ?? ''
    const who = async () =>
      (await sent(web, login, { headers: { ...elsewhere, Cookie: cookie } })).body
    expect(await who()).toMatchObject({ name: 'bob', rights: 'operate' })

    writeFileSync(config, table('bob', 'root') + table('carol', 'admin'))
    const refused = await reload()
    expect([refused.status, refused.code]).toEqual([422, 'invalid_settings'])
    expect(JSON.stringify(refused.body)).toContain(`operators.bob.role in ${config} is`)
    expect(await who()).toMatchObject({ name: 'bob', rights: 'operate' })

    writeFileSync(config, table('alice', 'view') + table('carol', 'admin'))
    expect((await reload()).body).toEqual({ changed: ['operators'], restart_needed: [] })
    expect(await who()).toMatchObject({ name: null, rights: null })
    expect((await sent(web, login, { headers: as('bob') })).code).toBe('wrong_password')
    expect((await sent(web, login, { headers: as('alice') })).body).toMatchObject({ name: 'alice' })
    const figures = (await sent(web, '/metrics/node', {})).body
    expect(figures).toContain('crossgear_logins_failed_total{reason="person"} 1')
  })
})
