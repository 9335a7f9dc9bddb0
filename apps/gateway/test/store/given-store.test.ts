import { StoreError } from '@crossgear/core-scheduler'
import { expect, test } from 'vitest'
import { isAway } from '../../src/store/given-store.ts'
import { openStore } from '../../src/store/open-store.ts'
import { recordingLog } from '../support/recording-log.ts'
import { fakeRedis } from './support/fake-redis.ts'

const open = (redisUrl: string) =>
  openStore({ redisUrl, dataDir: '', storePort: 'auto' }, recordingLog().log)

test('a given store is logged into and named, and its password is not shown', async () => {
  const sent: string[] = []
  const port = await fakeRedis((chunk) => {
    sent.push(chunk)
    return chunk.includes('INFO') ? '$22\r\nredis_version:7.0.15\r\n' : '+OK'
  })
  const store = await open(`redis://me:secret@127.0.0.1:${port}/2`)
  expect(sent[0]).toBe('*3\r\n$4\r\nAUTH\r\n$2\r\nme\r\n$6\r\nsecret\r\n')
  expect(sent[1]).toBe('*2\r\n$6\r\nSELECT\r\n$1\r\n2\r\n')
  expect(store).toMatchObject({
    kind: 'redis-url',
    describe: 'Redis 7.0.15',
    nativeUrl: `redis://me:***@127.0.0.1:${port}/2`,
    address: { username: 'me', password: 'secret', db: 2 },
  })
})

test('a given store that is reading its data is waited for', async () => {
  let asked = 0
  const port = await fakeRedis(() => (asked++ < 2 ? '-LOADING it is' : '+PONG'))
  await expect(open(`redis://127.0.0.1:${port}`)).resolves.toMatchObject({ kind: 'redis-url' })
})

test.each([
  ['-NOAUTH Authentication required.', /answers "NOAUTH .*": put the right user and password into/],
  [
    '-ERR DB index is out of range',
    /answers "ERR DB index is out of range": correct --redis-url\.$/,
  ],
  ['HTTP/1.1 400 Bad Request', /^No Redis speaks at .*: correct --redis-url\.$/],
])('an answer %j is explained in one line', async (answer, line) => {
  const port = await fakeRedis(() => answer)
  await expect(open(`redis://127.0.0.1:${port}`)).rejects.toThrow(line)
})

test.each([
  ['6.2.14', false],
  ['7.0.0', true],
  ['10.0.0', true],
])('Redis %s: is taken %s', async (version, isTaken) => {
  const info = `redis_version:${version}\r\n`
  const port = await fakeRedis((chunk) =>
    chunk.includes('INFO') ? `$${info.length}\r\n${info}` : '+PONG',
  )
  const said = await open(`redis://127.0.0.1:${port}`).then(
    ({ describe }) => describe,
    (error: unknown) => (error as Error).message,
  )
  const refusal = `The store at redis://127.0.0.1:${port} is Redis ${version}: Redis 7 or Valkey is needed.`
  expect(said).toBe(isTaken ? `Redis ${version}` : refusal)
})

test('a given store that is away is explained in one line', async () => {
  await expect(open('unix:///no/such.sock')).rejects.toThrow(
    'The store at unix:///no/such.sock cannot be reached (ENOENT): start it or correct --redis-url.',
  )
})

test.each([
  ['UNREACHABLE', 'the connection was lost', true],
  ['TIMEOUT', 'Command timed out', true],
  ['REFUSED', 'BUSY Redis is busy running a script.', true],
  ['REFUSED', 'LOADING Redis is loading the dataset in memory', true],
  ['REFUSED', 'MASTERDOWN Link with MASTER is down', true],
  ['REFUSED', "NOPERM User default has no permissions to run the 'fcall' command", false],
] as const)('a store that answers %s "%s" while it is opened may come: %s', (code, message, is) => {
  expect(isAway(new StoreError(code, message))).toBe(is)
})
