import { chmod, chown, mkdir, readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { locateServer, StoreProbe } from '@crossgear/redis-store'
import { describe, expect, onTestFinished, test } from 'vitest'
import type { BackupAct } from '../../src/commands/backup/arguments.ts'
import { runBackup } from '../../src/commands/backup/run-backup.ts'
import { storeAddressOf } from '../../src/commands/cli/store-address-of.ts'
import { runDoctor } from '../../src/commands/doctor/run-doctor.ts'
import { runMigrate } from '../../src/commands/migrate/run-migrate.ts'
import {
  type CommandUse,
  type OpenStore,
  openStore,
  openStoreForCommand,
} from '../../src/store/open-store.ts'
import { findStoreProgram } from '../../src/store/private-server.ts'
import { heard } from '../support/heard.ts'
import { recordingLog } from '../support/recording-log.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { fakeRedis } from './support/fake-redis.ts'

const program = await findStoreProgram(process.env['PATH'], recordingLog().log)
const withoutServers = ''
const reading = { writes: false, option: '--redis-url' } as const
const writing = { ...reading, writes: true } as const

const settings = (dataDir: string) => ({ redisUrl: undefined, dataDir, storePort: 'off' }) as const

async function gatewayStore(dataDir: string, path?: string): Promise<OpenStore> {
  const store = await openStore(settings(dataDir), recordingLog().log, path)
  onTestFinished(() => store.close())
  return store
}

async function commandStore(
  dataDir: string,
  use: CommandUse = reading,
  path?: string,
): Promise<OpenStore> {
  const store = await openStoreForCommand(settings(dataDir), use, recordingLog().log, path)
  onTestFinished(() => store.close())
  return store
}

async function ask(store: OpenStore, ...words: string[]): Promise<unknown> {
  const connection = await StoreProbe.open(await locateServer(store.address, 2000), 2000)
  try {
    return await connection.command(...words)
  } finally {
    connection.end()
  }
}

/** A file with one job, as `crossgear migrate export` writes it. */
async function fileWithJob(): Promise<string> {
  const job = {
    v: 1,
    state: 'queued',
    door: 'gearman',
    function: 'mail',
    level: 5,
    payload: 'eA==',
  }
  const path = join(await temporaryFolder(), 'job.ndjson')
  await writeFile(path, `${JSON.stringify(job)}\n`)
  return `file://${path}`
}

/** Every command that takes a data folder, on this one, without a server on PATH. */
async function commandsOn(dataDir: string) {
  const out = await temporaryFolder()
  const from = await fileWithJob()
  type Command = Parameters<typeof heard>[0]
  const run = (command: Command, ...words: string[]) =>
    heard(command, [...words, '--data-dir', dataDir], undefined, { PATH: withoutServers })
  const backupAct =
    (act: BackupAct): Command =>
    (words, { env, signal, stderr }) =>
      runBackup(act, words, { env, signal, stderr, stdin: process.stdin, stdout: process.stdout })
  return {
    backup: () => run(backupAct('backup'), '--to', join(out, 'b')),
    restore: () => run(backupAct('restore'), '--from', from),
    run: () => run(runMigrate, 'run', '--from', from),
    verify: () => run(runMigrate, 'verify', '--from', from),
    rollback: () => run(runMigrate, 'rollback', '--name', 'any'),
    doctor: () => run(runDoctor),
  }
}

describe('a command that is no gateway', () => {
  test('is refused in one line, with exit code 2, where the folder does not exist, and creates none', async () => {
    const dataDir = join(await temporaryFolder(), 'mistyped')
    for (const command of Object.values(await commandsOn(dataDir))) {
      const { code, stderr } = await command()
      expect(code).toBe(2)
      expect(stderr).toMatch(
        /^(There is no folder|No store runs in) \S+mistyped: .*--data-dir.*\n$/,
      )
    }
    await expect(readdir(dataDir)).rejects.toThrow('ENOENT')
  })

  test('starts no store in memory: without a server on PATH it is refused, and the folder stays empty', async () => {
    const dataDir = await temporaryFolder()
    for (const command of Object.values(await commandsOn(dataDir))) {
      const { code, stderr } = await command()
      expect(code).toBe(2)
      expect(stderr).toMatch(/^No store runs in \S+[:,] .*start the gateway.*\n$/)
    }
    expect(await readdir(dataDir)).toEqual([])
  })

  test('is told that its folder is a file', async () => {
    const path = join(await temporaryFolder(), 'a-file')
    await writeFile(path, '')
    await expect(commandStore(path)).rejects.toThrow(
      /^\S+a-file is not a folder \(ENOTDIR\): choose/,
    )
    await expect(gatewayStore(path)).rejects.toThrow(
      /^\S+a-file is not a folder \(EEXIST\): choose/,
    )
  })

  test("uses a running gateway's embedded store, and leaves it running", async () => {
    const dataDir = await temporaryFolder()
    const gateway = await gatewayStore(dataDir, withoutServers)
    await ask(gateway, 'SET', 'kept', 'yes')
    const store = await commandStore(dataDir)
    expect(store.kind).toBe('embedded')
    expect(await ask(store, 'GET', 'kept')).toBe('yes')
    await store.close()
    expect(await ask(gateway, 'GET', 'kept')).toBe('yes')
    expect(await storeAddressOf(settings(dataDir))).toEqual(gateway.address)
  })

  test('is refused when the gateway of an embedded store has ended', async () => {
    const dataDir = await temporaryFolder()
    await (await gatewayStore(dataDir, withoutServers)).close()
    await expect(commandStore(dataDir)).rejects.toThrow(/^No store runs in \S+, and it has no jobs/)
    expect(await readdir(dataDir)).toEqual(['store.password'])
  })
})

test.each([
  ['NOAUTH Authentication required.', 'put the right user and password into --to.'],
  ['ERR DB index is out of range', 'correct --to.'],
])(
  'migrate, whose target answers %j, is advised by its own option --to, and never by --redis-url',
  async (answer, advice) => {
    const to = `redis://127.0.0.1:${await fakeRedis(() => `-${answer}`)}`
    const from = await fileWithJob()
    for (const act of ['run', 'verify']) {
      const { code, stderr } = await heard(runMigrate, [act, '--from', from, '--to', to])
      expect(stderr).toBe(`The store at ${to} answers "${answer}": ${advice}\n`)
      expect(code).toBe(2)
    }
  },
)

describe.skipIf(program === undefined && 'redis-server')(
  'a command beside a private store (needs redis-server on PATH)',
  () => {
    test("uses a running gateway's store, also without a server on its own PATH", async () => {
      const dataDir = await temporaryFolder()
      const gateway = await gatewayStore(dataDir)
      await ask(gateway, 'SET', 'kept', 'yes')
      const store = await commandStore(dataDir, reading, withoutServers)
      expect(store.kind).toBe('private')
      expect(await ask(store, 'GET', 'kept')).toBe('yes')
      await store.close()
      expect(await ask(gateway, 'PING')).toBe('PONG')
    })

    test('keeps the store until it has ended, if the gateway ends first', async () => {
      const dataDir = await temporaryFolder()
      const gateway = await gatewayStore(dataDir)
      const store = await commandStore(dataDir)
      await gateway.close()
      expect(await ask(store, 'PING')).toBe('PONG')
      await store.close()
      await expect(ask(store, 'PING')).rejects.toThrow(/ENOENT|ECONNREFUSED/)
    })

    test('starts the server on the jobs of a gateway that has ended, and ends it', async () => {
      const dataDir = await temporaryFolder()
      const gateway = await gatewayStore(dataDir)
      await ask(gateway, 'SET', 'kept', 'yes')
      await gateway.close()
      const store = await commandStore(dataDir)
      expect(await ask(store, 'GET', 'kept')).toBe('yes')
      await store.close()
      await expect(ask(store, 'PING')).rejects.toThrow(/ENOENT|ECONNREFUSED/)
      expect(await ask(await gatewayStore(dataDir), 'GET', 'kept')).toBe('yes')
    })

    test.runIf(process.geteuid?.() === 0)(
      "of root uses a running store of another user, and starts none in that user's folder",
      async () => {
        const dataDir = await temporaryFolder()
        const gateway = await gatewayStore(dataDir)
        await chown(dataDir, 65_534, 65_534)
        const store = await commandStore(dataDir)
        expect(await ask(store, 'PING')).toBe('PONG')
        await store.close()
        await gateway.close()
        const before = await readdir(dataDir)
        await expect(commandStore(dataDir, writing)).rejects.toThrow(
          /which belongs to another user: start the gateway, or run this as that user\.$/,
        )
        expect(await readdir(dataDir)).toEqual(before)
      },
    )

    test('that writes may begin with an empty folder, and what it wrote is there for the gateway', async () => {
      const dataDir = join(await temporaryFolder(), 'store')
      await expect(commandStore(dataDir, writing)).rejects.toThrow(/^There is no folder/)
      await mkdir(dataDir)
      await chmod(dataDir, 0o700)
      await expect(commandStore(dataDir, reading)).rejects.toThrow(/has no jobs of one/)
      expect(await readdir(dataDir)).toEqual([])
      const store = await commandStore(dataDir, writing)
      await ask(store, 'SET', 'kept', 'yes')
      await store.close()
      expect(await ask(await gatewayStore(dataDir), 'GET', 'kept')).toBe('yes')
    })
  },
)
