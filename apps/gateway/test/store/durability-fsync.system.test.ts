import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { StoreAddress } from '@crossgear/redis-store'
import { buildLossyDisk, lacksCompiler } from '@crossgear/tools/preload-library'
import { lacksValkey, RedisServer, type ServerShape } from '@crossgear/tools/redis-server'
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest'
import { soon } from '@crossgear/tools/wait-for'
import { checkDurability } from '../../src/store/check-durability.ts'
import { parseStoreUrl } from '../../src/config/store-address.ts'
import { FwpClient } from '../doors/faktory/support/fwp-client.ts'
import { GearmanPeer } from '../doors/gearman/support/gearman-peer.ts'
import { ask } from '../doors/http/support/http-client.ts'
import { gatewayOfTest, startGateway } from '../support/gateway-process.ts'
import { recordingLog } from '../support/recording-log.ts'
import { fakeAddress } from './support/fake-redis.ts'

/** Returns what the check logs. */
async function check(address: StoreAddress): Promise<readonly string[]> {
  const { log, lines } = recordingLog()
  await checkDurability('fsync', { address, kind: 'redis-url' }, log)
  return lines
}

/** A server that says of each command what the table says, and that its disk has everything at once. */
function quickServer(table: Readonly<Record<string, string>>): Promise<StoreAddress> {
  const usual = { WAITAOF: '*2\r\n:1\r\n:0', SET: '+OK', INFO: '$-1' }
  const answers: Readonly<Record<string, string>> = { ...usual, ...table }
  return fakeAddress((sent) => {
    const command = /^\*\d+\r\n\$\d+\r\n(\w+)/.exec(sent)?.[1] ?? ''
    return answers[command] ?? '-ERR unknown command'
  })
}

const policy = (word: string) => ({
  CONFIG: `*2\r\n$11\r\nappendfsync\r\n$${word.length}\r\n${word}`,
})

describe('a store that must confirm writes on its disk', () => {
  test('is accepted if it waits for its disk with every write', async () => {
    expect(await check(await quickServer(policy('always')))).toEqual([])
  })

  test('is refused if it confirms sooner than a disk can', async () => {
    const refusal = 'with "appendfsync everysec" answers before the disk has anything'
    await expect(check(await quickServer(policy('everysec')))).rejects.toThrow(refusal)
  })

  test('is logged as a warning if that is possible and not known', async () => {
    const [line] = await check(await quickServer({ CONFIG: '-NOPERM no permissions' }))
    expect(line).toContain('confirms writes to its disk at once')
  })

  test('is logged as a warning if its disk is not asked', async () => {
    const [line] = await check(await quickServer(policy('no')))
    expect(line).toContain('the store never syncs its disk ("appendfsync no")')
  })

  test('is accepted if it takes no writes now', async () => {
    const full = { ...policy('everysec'), SET: '-OOM command not allowed' }
    expect(await check(await quickServer(full))).toEqual([])
  })
})

describe.skipIf(lacksValkey || lacksCompiler)(
  'with valkey-server, and a C compiler for a lossy disk: --durability fsync',
  () => {
    let folder: string
    let shape: ServerShape
    beforeAll(() => {
      folder = mkdtempSync(join(tmpdir(), 'xg-disk-'))
      shape = { program: 'valkey-server', preload: buildLossyDisk(folder) }
    })
    afterAll(() => rmSync(folder, { recursive: true, force: true }))

    async function start(...words: string[]): Promise<RedisServer> {
      const server = await RedisServer.startAs(shape, ...words)
      onTestFinished(() => server.stop())
      return server
    }

    const startWith = (fsync: string) => start('--appendonly', 'yes', '--appendfsync', fsync)

    /** True if a write that the server calls durable survives a power failure. */
    async function tellsTheTruth(server: RedisServer): Promise<boolean> {
      const redis = server.connect({ retryStrategy: () => null })
      for (const key of ['first', 'second']) {
        await redis.set(key, '')
        await redis.call('WAITAOF', 1, 0, 5_000)
      }
      await server.kill()
      await server.start()
      return (await server.ask('EXISTS', 'second')) === '1'
    }

    test('is accepted with everysec if the store waits for its disk, and refused otherwise', async () => {
      const server = await startWith('everysec')
      const isTrue = await tellsTheTruth(server)
      const checked = check(parseStoreUrl(server.url)!)
      if (isTrue) expect(await checked).toEqual([])
      else await expect(checked).rejects.toThrow('answers before the disk has anything')
    })

    test('does not start without an append-only file', async () => {
      const server = await start()
      const { exited } = startGateway(['--redis-url', server.url, '--durability', 'fsync'])
      const { code, stderr } = await exited
      expect([code, stderr]).toEqual([1, expect.stringContaining('set "appendonly yes" on it')])
    })

    test('answers each door when the disk has the job; a loss of power costs only refused jobs', async () => {
      const server = await startWith('always')
      const open = await startGatewayOn(server)
      const first = await open.handIn('first').answers
      expect(first).toEqual(['JOB_CREATED', '+OK', '200'])

      // From here on the disk is written when the test says so.
      await server.ask('CONFIG', 'SET', 'appendfsync', 'no')
      const second = open.handIn('second')
      await asksDisk(server, 3)
      expect(second.answered()).toBe(0)
      await server.ask('CONFIG', 'SET', 'appendfsync', 'always')
      expect(await second.answers).toEqual(['JOB_CREATED', '+OK', '200'])

      await server.ask('CONFIG', 'SET', 'appendfsync', 'no')
      const third = open.handIn('third')
      await asksDisk(server, 6)
      await server.kill()
      expect(await third.answers).toEqual(['ERROR', expect.stringMatching(/^-ERR /), '503'])
      await server.start()
      expect(await server.ask('LLEN', 'queue:mail:normal')).toBe('6')
      await vi.waitFor(async () => {
        expect(await open.handIn('fourth').answers).toEqual(['JOB_CREATED', '+OK', '200'])
      }, soon)
    })
  },
)

/** Resolves when a job is in the store beyond so many, and its disk is asked. */
async function asksDisk(server: RedisServer, beyond: number): Promise<void> {
  await vi.waitFor(async () => {
    expect(await server.ask('CLIENT', 'LIST')).toContain('cmd=waitaof')
    expect(Number(await server.ask('LLEN', 'queue:mail:normal'))).toBeGreaterThan(beyond)
  }, soon)
}

interface Gateway {
  /** Hands in a job by each door, and says what each has answered. */
  handIn(name: string): { readonly answers: Promise<readonly string[]>; answered(): number }
}

async function startGatewayOn(server: RedisServer): Promise<Gateway> {
  const ports = ['--gearman-port', '0', '--faktory-port', '0', '--http-port', '0']
  const words = ['--redis-url', server.url, '--durability', 'fsync', '--web-port', 'off']
  const { port: portOf } = await gatewayOfTest([...words, ...ports]).ready
  const gearman = await GearmanPeer.ofTest(portOf('gearman'))
  const faktory = await FwpClient.ofTest(portOf('faktory'))
  return {
    handIn(name) {
      let answered = 0
      const heard = async (answer: Promise<string>): Promise<string> => {
        const word = await answer
        answered += 1
        return word
      }
      const job = JSON.stringify({ jid: `jid-${name}`, jobtype: 'mail', args: [] })
      const headers = { 'X-Gearman-Background': 'true' }
      const answers = Promise.all([
        heard(gearman.ask('SUBMIT_JOB_BG', 'mail', '', name).then(([word = '']) => word)),
        heard(faktory.ask(`PUSH ${job}`)),
        heard(ask(portOf('http'), '/mail', { headers }).then(({ status }) => String(status))),
      ])
      return { answers, answered: () => answered }
    },
  }
}
