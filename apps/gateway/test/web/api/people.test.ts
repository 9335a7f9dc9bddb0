import { expect, test } from 'vitest'
import { hashPassword } from '../../../src/config/password-hash.ts'
import type { AccessOptions } from '../../../src/web/api/access.ts'
import {
  apiOnRedis,
  type ApiReply,
  bearer,
  guarded,
  operatorPassword,
  elsewhere,
} from './support/api-gateway.ts'
import { as, basic, hashes, type Name, passwords, people } from './support/people.ts'

const { describeApi, openApi } = apiOnRedis({ isEmptied: true })
const login = '/api/v1/session'

const operators = people({ alice: 'view', bob: 'operate', carol: 'admin' })
const cookieOf = ({ headers }: ApiReply): string =>
  (headers['set-cookie']?.[0] ?? '').split(';')[0] ?? ''

describeApi('people', () => {
  test('view reads, operate works on jobs, admin does everything', async () => {
    const { refusal } = await openApi({ operators })
    const post = (name: Name, path: string, body: unknown) =>
      refusal(path, { method: 'POST', headers: as(name), body })
    const pause = { queues: ['mail'] }
    expect(await refusal('/overview', { headers: as('alice') })).toEqual([200, undefined])
    expect(await post('alice', '/queues/pause', pause)).toEqual([403, 'operator_needed'])
    expect(await post('bob', '/queues/pause', pause)).toEqual([200, undefined])
    const limits = { function: 'resize', high: 1, normal: 1, low: 1 }
    const forAdmins = [
      ['/functions/limits', limits],
      ['/functions/drop', { functions: ['resize'] }],
      ['/functions/open', { functions: ['resize'] }],
      ['/functions/close', { functions: ['resize'] }],
      ['/queues/drop', { queues: ['mail'] }],
      ['/reload', undefined],
    ] as const
    for (const [path, body] of forAdmins) {
      expect([path, ...(await post('bob', path, body))]).toEqual([path, 403, 'admin_needed'])
    }
    expect(await post('carol', '/functions/open', { functions: ['resize'] })).toEqual([
      200,
      undefined,
    ])
    expect(await post('carol', '/functions/limits', limits)).toEqual([200, undefined])
  })

  test('a password without a name is an admin, as it was before there were people', async () => {
    const { refusal, ask } = await openApi({ ...guarded, operators })
    const headers = bearer(operatorPassword)
    const body = { functions: ['resize'] }
    expect(await refusal('/functions/open', { method: 'POST', headers, body })).toEqual([
      200,
      undefined,
    ])
    expect((await ask(login, { headers })).body).toEqual({
      role: 'operator',
      rights: 'admin',
      by: 'password',
      name: null,
      queues: null,
      has_operator: true,
      has_people: true,
    })
  })

  test('log in by name: a session with it works at every gateway on the store', async () => {
    const [here, there] = await Promise.all([openApi({ operators }), openApi({ operators })])
    const body = { name: 'bob', password: passwords.bob }
    const answer = await here.ask(login, { method: 'POST', body, headers: elsewhere })
    expect([answer.status, answer.body]).toMatchObject([
      201,
      { role: 'operator', rights: 'operate' },
    ])
    const headers = { ...elsewhere, Cookie: cookieOf(answer) }
    expect((await there.ask(login, { headers })).body).toEqual({
      role: 'operator',
      rights: 'operate',
      by: 'session',
      name: 'bob',
      queues: null,
      has_operator: true,
      has_people: true,
    })
    expect(await there.refusal('/reload', { method: 'POST', headers })).toEqual([
      403,
      'admin_needed',
    ])
    const forged = { ...elsewhere, Cookie: cookieOf(answer).replace('Ym9i', 'Y2Fyb2w') }
    expect((await there.ask(login, { headers: forged })).body).toMatchObject({ role: null })
  })

  test('a reload ends sessions of people who are gone, or have another role, password or queues', async () => {
    const { ask, configure } = await openApi({ operators })
    const body = { name: 'bob', password: passwords.bob }
    const headers = { ...elsewhere, Cookie: cookieOf(await ask(login, { method: 'POST', body })) }
    const who = async (next: AccessOptions['operators']): Promise<unknown> => {
      configure({ operators: next ?? new Map() })
      return ((await ask(login, { headers })).body as { name: unknown }).name
    }
    expect(await who(people({ bob: 'operate', alice: 'admin' }))).toBe('bob')
    const others = [
      people({ alice: 'view' }),
      people({ bob: 'admin' }),
      people({ bob: 'operate' }, { bob: { queues: ['mail*'] } }),
      people({ bob: 'operate' }, { bob: { password_hash: hashes.alice } }),
    ]
    for (const next of others) expect(await who(next)).toBeNull()
    expect(await who(operators)).toBe('bob')
  })

  test('a wrong password and an unknown name get one answer, are counted, and run out of tries', async () => {
    const { ask, failedLogins, limits } = await openApi({ operators, tries: 3 })
    const answers: unknown[] = []
    const asked = [basic('bob', 'no'), basic('nobody', 'no'), basic('bob', 'never'), as('bob')]
    for (const headers of asked) {
      const { status, body } = await ask('/api/v1/overview', { headers })
      answers.push([status, (body as { error: unknown }).error])
    }
    const wrong = { code: 'wrong_password', message: 'the name or the password is wrong' }
    const spent = { code: 'too_many_tries', message: 'too many wrong passwords: wait a minute' }
    expect(answers).toEqual([...Array<unknown>(3).fill([401, wrong]), [429, spent]])
    expect(failedLogins).toEqual(['person', 'person', 'person', 'tries'])
    expect([...limits]).toEqual(['password_tries'])
  })

  test('many wrong passwords at once are no more tries: a right one among them is not told', async () => {
    // A hash as users have it takes so long that all are asked for before the first one is checked.
    const usual = { bob: { password_hash: await hashPassword(passwords.bob) } }
    const { ask } = await openApi({ operators: people({ bob: 'operate' }, usual), tries: 2 })
    const guesses = ['a', 'b', 'c', 'd', passwords.bob]
    const codes = await Promise.all(
      guesses.map(async (word) => (await ask(login, { headers: basic('bob', word) })).code),
    )
    expect(codes.filter((code) => code === 'wrong_password').length).toBeLessThanOrEqual(2)
    expect(codes.at(-1)).toBe('too_many_tries')
  })

  test('more logins at once than may wait are refused for a moment, and none is lost', async () => {
    const { ask } = await openApi({ operators, tries: 0 })
    const codes = await Promise.all(
      Array.from({ length: 12 }, async (_none, at) => {
        return (await ask(login, { headers: basic(`nobody${at}`, 'x') })).code
      }),
    )
    expect(new Set(codes)).toEqual(new Set(['wrong_password', 'too_many_requests']))
    expect((await ask(login, { headers: as('alice') })).body).toMatchObject({ name: 'alice' })
  })

  test('a proxy names them only from its addresses, with one name and a known role', async () => {
    const headersOf = (user: string | string[], role?: string) => ({
      ...elsewhere,
      'X-User': user,
      ...(role !== undefined && { 'X-Role': role }),
    })
    const names = { userHeader: 'X-User', roleHeader: 'X-Role' }
    const proxy = { names, from: ['127.0.0.0/8'] }
    const { ask, refusal } = await openApi({ proxy })
    const who = async (headers: Record<string, string | string[]>) =>
      (await ask(login, { headers })).body
    expect(await who(headersOf('dora', 'admin'))).toMatchObject({
      role: 'operator',
      rights: 'admin',
      by: 'proxy',
      name: 'dora',
      queues: null,
    })
    expect(await who(elsewhere)).toMatchObject({ role: null, by: 'address' })
    const bad = [
      headersOf('dora'),
      headersOf('dora', 'root'),
      headersOf('', 'admin'),
      headersOf('d ora', 'admin'),
      headersOf(['dora', 'bob'], 'admin'),
    ]
    for (const headers of bad) {
      expect(await refusal('/overview', { headers })).toEqual([401, 'unauthorized'])
    }
    const stranger = await openApi({ proxy: { ...proxy, from: ['192.0.2.1'] } })
    const headers = headersOf('dora', 'admin')
    expect(await stranger.refusal('/overview', { headers })).toEqual([401, 'unauthorized'])
  })

  test('Basic without people, or that is no name and password, is refused', async () => {
    const { refusal } = await openApi()
    expect(await refusal('/overview', { headers: as('bob') })).toEqual([401, 'password_unset'])
    const headers = { ...elsewhere, Authorization: 'Basic !' }
    expect(await refusal('/overview', { headers })).toEqual([401, 'unauthorized'])
  })
})
