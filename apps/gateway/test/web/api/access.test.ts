import { expect, test } from 'vitest'
import {
  apiOnRedis,
  type ApiReply,
  bearer,
  elsewhere,
  guarded,
  operatorPassword,
  readerPassword,
  sent,
} from './support/api-gateway.ts'

const { describeApi, openApi } = apiOnRedis()
const login = '/api/v1/session'
const tokenOf = ({ body }: ApiReply): string => (body as { token: string }).token

describeApi('access to the API', () => {
  test('reads need no password from this machine; from others they do, unless the port is open', async () => {
    const { ask } = await openApi()
    expect((await ask('/api/v1/overview')).status).toBe(200)
    const refused = await ask('/api/v1/overview', { headers: elsewhere })
    expect([refused.status, refused.code]).toEqual([401, 'unauthorized'])
    expect(refused.headers['www-authenticate']).toBe('Bearer')
    const openPort = await openApi({ isOpen: true })
    expect((await openPort.ask('/api/v1/overview', { headers: elsewhere })).status).toBe(200)
  })

  test('metrics and health need no password', async () => {
    const { port } = await openApi()
    for (const path of ['/metrics', '/metrics/node', '/healthz', '/readyz']) {
      expect((await sent(port, path, { headers: elsewhere })).status).toBe(200)
    }
  })

  test("from any machine a reader's Bearer password may read and an operator's may also change", async () => {
    const { ask } = await openApi()
    for (const [password, role] of [
      [readerPassword, 'reader'],
      [operatorPassword, 'operator'],
    ] as const) {
      const headers = { ...elsewhere, ...bearer(password) }
      expect((await ask('/api/v1/overview', { headers })).status).toBe(200)
      const { body } = await ask(login, { headers: bearer(password) })
      expect(body).toMatchObject({ role, by: 'password' })
    }
  })

  test('a login sets a cookie that no script can read and no other site sends', async () => {
    const { ask, log } = await openApi()
    const body = { password: operatorPassword }
    const answer = await ask(login, { method: 'POST', body, headers: elsewhere })
    expect([answer.status, answer.body]).toMatchObject([201, { role: 'operator' }])
    const [cookie = ''] = answer.headers['set-cookie'] ?? []
    expect(cookie).toMatch(
      /^crossgear_session=[\w.-]+; Path=\/; HttpOnly; SameSite=Strict; Max-Age=43200$/,
    )
    const headers = { ...elsewhere, Cookie: `a=b; ${cookie.split(';')[0] ?? ''}` }
    const who = await ask(login, { headers })
    expect(who.body).toEqual({
      role: 'operator',
      rights: 'admin',
      by: 'session',
      name: null,
      queues: null,
      has_operator: true,
      has_people: false,
    })
    const byToken = await ask(login, { headers: bearer(tokenOf(answer)) })
    expect(byToken.body).toMatchObject({ role: 'operator', by: 'session' })
    expect(await log.said(/Logged in/)).toBeDefined()
    const secure = await ask(login, {
      method: 'POST',
      body,
      headers: { 'X-Forwarded-Proto': 'https' },
    })
    expect(String(secure.headers['set-cookie'])).toContain('; Secure')
    const out = await ask(login, { method: 'DELETE', headers })
    expect(String(out.headers['set-cookie'])).toContain('Max-Age=0')
  })

  test('a token with another role, expiry or password is refused', async () => {
    const { ask } = await openApi()
    const answer = await ask(login, { method: 'POST', body: { password: readerPassword } })
    const token = tokenOf(answer)
    const [, end = '', nonce = '', mac = ''] = token.split('.')
    const forged = [
      `operator.${end}.${nonce}.${mac}`,
      `reader.${Number(end) + 1}.${nonce}.${mac}`,
      `reader.${end}.${nonce}.${mac.replace(/^./, (first) => (first === 'A' ? 'B' : 'A'))}`,
    ]
    for (const word of forged) {
      const headers = { ...elsewhere, Cookie: `crossgear_session=${word}` }
      expect((await ask('/api/v1/overview', { headers })).status).toBe(401)
    }
    const other = await openApi({ ...guarded, readerPassword: 'another' })
    const headers = { ...elsewhere, Cookie: `crossgear_session=${token}` }
    expect((await ask('/api/v1/overview', { headers })).status).toBe(200)
    expect((await other.ask('/api/v1/overview', { headers })).status).toBe(401)
  })

  test('wrong passwords are refused; after several of them right ones are refused too', async () => {
    const { ask, limits } = await openApi({ ...guarded, tries: 2 })
    const codes: unknown[] = []
    for (const password of ['no', 'never', operatorPassword]) {
      codes.push((await ask(login, { method: 'POST', body: { password } })).code)
    }
    expect(codes).toEqual(['wrong_password', 'wrong_password', 'too_many_tries'])
    const refused = await ask('/api/v1/overview', { headers: bearer('x') })
    expect([refused.status, refused.headers['retry-after']]).toEqual([429, '60'])
    expect([...limits]).toEqual(['password_tries'])
    expect((await ask('/api/v1/overview')).status).toBe(200)
  })

  test('behind a trusted proxy the client is counted, and not the proxy', async () => {
    const { ask } = await openApi({ ...guarded, tries: 1, proxy: { from: ['127.0.0.1'] } })
    const from = async (client: string, password: string) => {
      const headers = { ...elsewhere, 'X-Forwarded-For': client }
      return (await ask(login, { method: 'POST', body: { password }, headers })).status
    }
    expect(await from('192.0.2.1', 'no')).toBe(401)
    expect(await from('192.0.2.1', operatorPassword)).toBe(429)
    // A client may write addresses of its own before the one that the proxy adds.
    expect(await from('192.0.2.9, 192.0.2.1', operatorPassword)).toBe(429)
    expect(await from('192.0.2.2', operatorPassword)).toBe(201)
    expect(await from('192.0.2.3, 127.0.0.1', operatorPassword)).toBe(201)
  })

  test('a password for a gateway that has none is said to be too much, and is no wrong try', async () => {
    const { ask, limits } = await openApi({ tries: 1 })
    const codes: unknown[] = []
    for (const password of ['one', 'other', 'third']) {
      codes.push((await ask('/api/v1/overview', { headers: bearer(password) })).code)
    }
    expect(codes).toEqual(['password_unset', 'password_unset', 'password_unset'])
    expect([...limits]).toEqual([])
  })

  test('requests from a page of another site, or by another host name, are refused', async () => {
    const { ask } = await openApi()
    const post = (headers: Record<string, string>) =>
      ask(login, { method: 'POST', body: { password: operatorPassword }, headers })
    const code = async (headers: Record<string, string>): Promise<unknown> => {
      const { status, code: word } = await post(headers)
      return [status, word]
    }
    expect(await code({ Origin: 'http://evil.example' })).toEqual([403, 'cross_site'])
    expect(await code({ 'Sec-Fetch-Site': 'same-site' })).toEqual([403, 'cross_site'])
    expect(await code({ Host: 'evil.example' })).toEqual([421, 'foreign_host'])
    expect(await code({ 'Content-Type': 'text/plain' })).toEqual([415, 'unsupported_media_type'])
    expect(await code({ Origin: 'http://localhost:1', Host: 'localhost:1' })).toEqual([
      201,
      undefined,
    ])
  })
})
