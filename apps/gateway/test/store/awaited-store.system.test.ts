import { createServer } from 'node:net'
import { freePort } from '@crossgear/tools/free-port'
import { lacksRedis } from '@crossgear/tools/redis-server'
import { describe, expect, onTestFinished, test } from 'vitest'
import { soon } from '@crossgear/tools/wait-for'
import { startGateway } from '../support/gateway-process.ts'
import { redisOfTest } from '../support/redis-of-suite.ts'
import { portOfTest } from '../support/port-of-test.ts'

/** A gateway in a process of its own; its web port. */
async function start(...words: readonly string[]) {
  const webPort = await freePort()
  const ports = ['--gearman-port', '0', '--faktory-port', 'off', '--web-port', String(webPort)]
  const gateway = startGateway([...ports, '--log-format', 'json', ...words])
  onTestFinished(async () => void (await gateway.end('SIGKILL')))
  const ask = (path: string): Promise<Response> => fetch(`http://127.0.0.1:${webPort}${path}`)
  return { ...gateway, ask }
}

/** A proxy before a server that is gone. */
async function closingProxy(): Promise<string> {
  const server = createServer((socket) => {
    socket.on('error', () => undefined)
    socket.end()
  })
  return `redis://127.0.0.1:${await portOfTest(server)}`
}

const waits = /cannot be reached \(.+\).* Waiting for it/

describe.skipIf(lacksRedis)('a store that is away at the start', () => {
  test('is waited for with closed doors and a reason in /readyz', async () => {
    const server = await redisOfTest()
    await server.kill()
    const gateway = await start('--redis-url', server.url)
    await gateway.said(waits)
    await expect.poll(async () => (await gateway.ask('/healthz')).status, soon).toBe(200)
    const answer = await gateway.ask('/readyz')
    expect([answer.status, await answer.json()]).toEqual([
      503,
      {
        status: 'not ready',
        reason: `The store at ${server.url} cannot be reached (ECONNREFUSED): start it or correct --redis-url.`,
      },
    ])
    expect((await gateway.ask('/metrics')).status).toBe(404)
    await server.start()
    expect((await gateway.ready).doors.map(({ name }) => name)).toContain('gearman')
    await expect.poll(async () => (await gateway.ask('/readyz')).status, soon).toBe(200)
    expect((await gateway.ask('/metrics')).status).toBe(200)
    expect((await gateway.end()).code).toBe(0)
  })

  test('is waited for behind a proxy that closes the connection, and named as away', async () => {
    const gateway = await start('--redis-url', await closingProxy())
    const [line] = await gateway.said(waits)
    expect(line).toContain('the server closed the connection')
    expect(line).not.toContain('No Redis speaks')
  })

  test.each(['SIGTERM', 'SIGINT'] as const)('is given up at once at %s, with 0', async (signal) => {
    const gateway = await start('--redis-url', 'unix:///no/such.sock')
    await gateway.said(waits)
    const { code, stdout, stderr } = await gateway.end(signal)
    expect([code, stderr]).toEqual([0, ''])
    expect(stdout).toContain(`"Stopping (${signal}) before the start is complete."`)
  })

  test.each([
    ['0', /^$/],
    ['1', waits],
  ])('is not waited for any longer than it was told to, %s s', async (seconds, said) => {
    const gateway = await start('--redis-url', 'unix:///no/such.sock', '--store-wait', seconds)
    const { code, stdout, stderr } = await gateway.exited
    expect(stdout).toMatch(said)
    expect([code, stderr]).toEqual([
      1,
      'The store at unix:///no/such.sock cannot be reached (ENOENT): start it or correct --redis-url.\n',
    ])
  })

  test.each([
    ['with another password', (url: string) => url.replace('//', '//:wrong@'), /WRONGPASS/],
    ['without its password', (url: string) => url, /NOAUTH/],
    [
      'with no such database',
      (url: string) => `${url.replace('//', '//:secret@')}/99`,
      /out of range/,
    ],
  ])('is not what a store is %s: that ends the start', async (_how, urlOf, said) => {
    const server = await redisOfTest('--requirepass', 'secret')
    const { code, stderr } = await (await start('--redis-url', urlOf(server.url))).exited
    expect(code).toBe(1)
    expect(stderr).toMatch(said)
  })
})
