import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { lacksRedis } from '@crossgear/tools/redis-server'
import { openRaw, readUntil } from '../http/support/http-client.ts'
import { Target } from './support/target.ts'

const up = ['..', '%2e%2e', '.%2E', '%252e%252e', '..%2f..', '..\\..', '%c0%ae%c0%ae']
const paths = [
  ...up.map((each) => `/ui/${each}/package.json`),
  ...up.map((each) => `/ui/pages/${each}/${each}/${each}/${each}/etc/passwd`),
  '//etc/passwd',
  '/ui//etc/passwd',
  '/ui/%00',
  '/ui/app.js%00.png',
  'http://x/ui/../main.js',
]

describe.skipIf(lacksRedis)('the web port', () => {
  let target: Target
  beforeAll(async () => {
    target = await Target.start()
  })
  afterAll(() => target.stop())

  test.each(paths)('serves no file for %s, which no client has normalised', async (path) => {
    const socket = await openRaw(target.ports.web)
    socket.write(`GET ${path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n`)
    const answer = await readUntil(socket, 'never')
    expect(answer).toMatch(/^HTTP\/1\.1 4\d\d /)
    expect(answer).not.toMatch(/"name":|root:|import /)
    socket.destroy()
  })
})
