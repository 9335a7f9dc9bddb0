import { describe, expect, test } from 'vitest'
import { ask, background } from './support/http-client.ts'
import { openHttp } from './support/http-gateway.ts'

describe('a job by HTTP', () => {
  test.each([
    '127.0.0.1',
    '10.1.2.3:8080',
    '[::1]:8080',
    'localhost:8080',
    'LOCALHOST',
    'app.localhost',
    'jobs.example.org:80',
    'jobs.example.org.',
  ])('is taken by a server addressed as %s', async (host) => {
    const { port } = await openHttp({ hostNames: ['jobs.example.org'] })
    const headers = { ...background, Host: host }
    expect((await ask(port, '/f', { headers })).status).toBe(200)
  })

  test.each([
    'evil.example',
    'localhost.evil.example',
    '127.0.0.1.evil.example',
    '[::1',
    '::1',
    'x y',
  ])('is refused by the host name %s, which a page may have made point here', async (host) => {
    const { port, rejections, scheduler } = await openHttp({ hostNames: ['jobs.example.org'] })
    const answer = await ask(port, '/f', { headers: { ...background, Host: host } })
    expect(answer.status).toBe(421)
    expect(answer.body.toString()).toBe(
      'The header Host names another server: allow the name with --allowed-hosts\n',
    )
    expect(rejections).toEqual(['foreign_host'])
    expect(await scheduler.jobs.counts()).toEqual([])
  })

  test('is taken by any host name where that is allowed', async () => {
    const { port } = await openHttp({ hostNames: ['*'] })
    const headers = { ...background, Host: 'evil.example' }
    expect((await ask(port, '/f', { headers })).status).toBe(200)
  })

  test.each([
    [{ Origin: 'http://evil.example' }],
    [{ Origin: 'null' }],
    [{ Origin: 'http://localhost:1' }],
    [{ 'Sec-Fetch-Site': 'cross-site' }],
    [{ 'Sec-Fetch-Site': 'same-site' }],
  ])('from a page of another site is refused: %j', async (signs) => {
    const { port, rejections, scheduler } = await openHttp()
    for (const method of ['POST', 'GET']) {
      const headers = { ...background, 'Content-Type': 'text/plain', ...signs }
      expect((await ask(port, '/f', { method, headers })).status).toBe(403)
    }
    expect(rejections).toEqual(['cross_site', 'cross_site'])
    expect(await scheduler.jobs.counts()).toEqual([])
  })

  test('from a page of the same origin is taken', async () => {
    const { port } = await openHttp()
    const host = `localhost:${port}`
    const headers = { ...background, Host: host, Origin: `http://${host}` }
    const status = async (more: object) =>
      (await ask(port, '/f', { headers: { ...headers, ...more } })).status
    expect(await status({ 'Sec-Fetch-Site': 'same-origin' })).toBe(200)
    expect(await status({ Host: 'localhost:80', Origin: 'http://localhost' })).toBe(200)
  })
})
