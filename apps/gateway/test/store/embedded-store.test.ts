import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { locateServer, type ServerAddress, StoreProbe } from '@crossgear/redis-store'
import { expect, onTestFinished, test } from 'vitest'
import { openStore } from '../../src/store/open-store.ts'
import { recordingLog } from '../support/recording-log.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

function withoutLogin({ password: _, ...rest }: ServerAddress): ServerAddress {
  return rest
}

test('without a server on PATH an embedded store answers, warns, and ends with the gateway', async () => {
  const { log, lines } = recordingLog()
  const dataDir = await temporaryFolder()
  const store = await openStore({ redisUrl: undefined, dataDir, storePort: 0 }, log, '')
  onTestFinished(() => store.close())
  expect(store.kind).toBe('embedded')
  expect(lines).toHaveLength(1)
  expect(lines[0]).toContain('jobs are kept in memory and do not outlive this gateway')

  const address = await locateServer(store.address, 2000)
  const connection = await StoreProbe.open(address, 2000)
  expect(await connection.command('PING')).toBe('PONG')
  expect(await connection.command('EVAL', 'return 1 + 1', '0')).toBe(2)
  const setting = 'hash-max-listpack-value'
  expect(await connection.command('CONFIG', 'GET', setting)).toEqual([setting, '1024'])

  const stranger = await StoreProbe.open(withoutLogin(address), 2000)
  await expect(stranger.command('FLUSHALL')).rejects.toThrow(/^NOAUTH /)
  stranger.end()
  const password = (await readFile(join(dataDir, 'store.password'), 'utf8')).trimEnd()
  expect(new URL(store.nativeUrl).password).toBe(password)

  await store.close()
  await connection.closed
  await expect(StoreProbe.open(address, 2000)).rejects.toThrow(/ENOENT|ECONNREFUSED/)
})

test('it listens on a socket of its folder alone, and on a loopback port if it is asked', async () => {
  const dataDir = await temporaryFolder()
  const open = (storePort: 'off' | number) =>
    openStore({ redisUrl: undefined, dataDir, storePort }, recordingLog().log, '')
  const alone = await open('off')
  const path = join(dataDir, 'store.sock')
  const password = (await readFile(join(dataDir, 'store.password'), 'utf8')).trimEnd()
  expect(alone.address).toEqual({ path, password, db: 0 })
  expect(alone.nativeUrl).toBe(`unix://${path}?password=${password}`)
  await alone.close()
  const asked = await open(0)
  onTestFinished(() => asked.close())
  const { hostname, port } = new URL(asked.nativeUrl)
  const onPort = { host: hostname, port: Number(port), tls: false, password, db: 0 }
  for (const address of [onPort, await locateServer(asked.address, 2000)]) {
    const connection = await StoreProbe.open(address, 2000)
    expect(await connection.command('PING')).toBe('PONG')
    connection.end()
  }
})

test('a second gateway of the folder shares it, and has one of its own when the first has ended', async () => {
  const dataDir = await temporaryFolder()
  const [logOne, logTwo] = [recordingLog(), recordingLog()]
  const settings = { redisUrl: undefined, dataDir, storePort: 'off' } as const
  const first = await openStore(settings, logOne.log, '')
  const second = await openStore(settings, logTwo.log, '')
  onTestFinished(() => second.close())
  expect(second.address).toEqual(first.address)
  expect(logTwo.lines).toContainEqual(
    expect.stringMatching(/^The store is in the memory of another/),
  )
  await first.close()
  await logTwo.said(/^The store is running again/)
  const connection = await StoreProbe.open(await locateServer(second.address, 2000), 2000)
  expect(await connection.command('PING')).toBe('PONG')
  connection.end()
})
