import { access, chmod, chown, mkdir, readFile, stat, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { locateServer, type ServerAddress, StoreProbe } from '@crossgear/redis-store'
import { describe, expect, onTestFinished, test } from 'vitest'
import { maskStoreUrl } from '../../src/config/store-address.ts'
import { StartError } from '../../src/errors.ts'
import { openStore, type OpenStore } from '../../src/store/open-store.ts'
import { findStoreProgram } from '../../src/store/private-server.ts'
import { startGateway } from '../support/gateway-process.ts'
import { recordingLog, type RecordingLog } from '../support/recording-log.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { portOfTest } from '../support/port-of-test.ts'

const program = await findStoreProgram(process.env['PATH'], recordingLog().log)

async function open(dataDir: string, to: RecordingLog = recordingLog()): Promise<OpenStore> {
  const store = await openStore({ redisUrl: undefined, dataDir, storePort: 0 }, to.log)
  onTestFinished(() => store.close())
  return store
}

async function ask(store: OpenStore, ...words: string[]): Promise<unknown> {
  return askAt(await locateServer(store.address, 2000), ...words)
}

/** As a program of another user, which knows the port alone. */
function askStranger(port: number, ...words: string[]): Promise<unknown> {
  return askAt({ host: '127.0.0.1', port, tls: false, db: 0 }, ...words)
}

async function askAt(address: ServerAddress, ...words: string[]): Promise<unknown> {
  const connection = await StoreProbe.open(address, 2000)
  try {
    return await connection.command(...words)
  } finally {
    connection.end()
  }
}

async function passwordIn(dataDir: string): Promise<string> {
  return (await readFile(join(dataDir, 'store.password'), 'utf8')).trimEnd()
}

async function pidOf(store: OpenStore): Promise<number> {
  return Number(/process_id:(\d+)/.exec(String(await ask(store, 'INFO', 'server')))?.[1])
}

test.runIf(process.env['CI'] === 'true')('a server for the private store is installed', () => {
  expect(program).toBeDefined()
})

describe.skipIf(program === undefined && 'redis-server')(
  'the private store (needs redis-server on PATH)',
  () => {
    test('writes an append-only file and keeps job hashes compact', async () => {
      const dataDir = await temporaryFolder()
      const store = await open(dataDir)
      expect(store.kind).toBe('private')
      expect(store.address).toEqual({
        path: join(dataDir, 'store.sock'),
        password: await passwordIn(dataDir),
        db: 0,
      })
      const settings = {
        appendonly: 'yes',
        appendfsync: 'everysec',
        save: '',
        'hash-max-listpack-value': '1024',
        'hash-max-listpack-entries': '128',
      }
      for (const [name, value] of Object.entries(settings)) {
        expect(await ask(store, 'CONFIG', 'GET', name)).toEqual([name, value])
      }
    })

    test('listens on its socket alone, unless a port is asked for', async () => {
      const dataDir = await temporaryFolder()
      const settings = { redisUrl: undefined, dataDir, storePort: 'off' } as const
      const store = await openStore(settings, recordingLog().log)
      onTestFinished(() => store.close())
      expect(await ask(store, 'CONFIG', 'GET', 'port')).toEqual(['port', '0'])
      const password = await passwordIn(dataDir)
      expect(store.nativeUrl).toBe(`unix://${join(dataDir, 'store.sock')}?password=${password}`)
    })

    test('also listens on a loopback port that is asked for, for native programs', async () => {
      const store = await open(await temporaryFolder())
      const { hostname, port, password } = new URL(store.nativeUrl)
      const address = { host: hostname, port: Number(port), tls: false, password, db: 0 }
      expect(await askAt(address, 'PING')).toBe('PONG')
    })

    test('takes no command without its password, which is in a file for its user alone', async () => {
      const dataDir = await temporaryFolder()
      const store = await open(dataDir)
      const { port, password } = new URL(store.nativeUrl)
      expect(password).toBe(await passwordIn(dataDir))
      expect((await stat(join(dataDir, 'store.password'))).mode & 0o777).toBe(0o600)
      await expect(askStranger(Number(port), 'FLUSHALL')).rejects.toThrow(/^NOAUTH /)
      const words = await readFile(`/proc/${await pidOf(store)}/cmdline`, 'utf8').catch(() => '')
      expect(words).not.toContain(password)
    })

    test('closes an empty folder, and one of its own, to other users, and says so once of its own', async () => {
      const dataDir = await temporaryFolder()
      const log = recordingLog()
      for (const mode of [0o755, 0o750]) {
        await chmod(dataDir, mode)
        const store = await open(dataDir, log)
        expect((await stat(dataDir)).mode & 0o777).toBe(0o700)
        await store.close()
      }
      await (await open(dataDir, log)).close()
      const said = log.lines.filter((line) => line.startsWith('Other users could read'))
      expect(said).toEqual([
        `Other users could read jobs in ${dataDir} (mode 750): its mode is 700 now.`,
      ])
    })

    test('leaves an open folder with files of others as it is, and refuses it', async () => {
      const dataDir = await temporaryFolder()
      await writeFile(join(dataDir, 'index.html'), '')
      await chmod(dataDir, 0o755)
      await expect(open(dataDir)).rejects.toThrow(/is open to other users, .*: run chmod 700 on it/)
      expect((await stat(dataDir)).mode & 0o777).toBe(0o755)
      await chmod(dataDir, 0o700)
      expect((await open(dataDir)).kind).toBe('private')
    })

    test("refuses another user's folder", async () => {
      const isRoot = process.geteuid?.() === 0
      const dataDir = isRoot ? await temporaryFolder() : '/usr'
      if (isRoot) await chown(dataDir, 65_534, 65_534)
      await expect(open(dataDir)).rejects.toThrow(/^The folder \S+ belongs to another user: choose/)
    })

    test('has the same password at the next start, and for every gateway of the folder', async () => {
      const dataDir = await temporaryFolder()
      const [first, second] = await Promise.all([open(dataDir), open(dataDir)])
      expect(second.nativeUrl).toBe(first.nativeUrl)
      const { password } = new URL(first.nativeUrl)
      await Promise.all([first.close(), second.close()])
      expect(new URL((await open(dataDir)).nativeUrl).password).toBe(password)
    })

    test('gets a password if it runs without one, as older gateways started it', async () => {
      const dataDir = await temporaryFolder()
      const first = await open(dataDir)
      await ask(first, 'SET', 'kept', 'yes')
      await ask(first, 'CONFIG', 'SET', 'requirepass', '')
      const second = await open(dataDir)
      const { port } = new URL(second.nativeUrl)
      await expect(askStranger(Number(port), 'PING')).rejects.toThrow(/^NOAUTH /)
      expect(await ask(second, 'GET', 'kept')).toBe('yes')
    })

    test('that runs with another password than that in the file is reported, and not started twice', async () => {
      const dataDir = await temporaryFolder()
      await open(dataDir)
      await writeFile(join(dataDir, 'store.password'), 'another-password\n')
      await expect(open(dataDir)).rejects.toThrow(/runs with another password than store\.password/)
    })

    test('refuses a password that its settings cannot hold', async () => {
      const dataDir = await temporaryFolder()
      await writeFile(join(dataDir, 'store.password'), 'with a "blank"\n')
      await expect(open(dataDir)).rejects.toThrow(
        /store\.password has no valid password for the store/,
      )
    })

    test('finds its data again at the next start', async () => {
      const dataDir = await temporaryFolder()
      const first = await open(dataDir)
      await ask(first, 'SET', 'kept', 'yes')
      await first.close()
      await expect(ask(first, 'PING')).rejects.toThrow(/ENOENT|ECONNREFUSED/)
      expect(await ask(await open(dataDir), 'GET', 'kept')).toBe('yes')
    })

    test('is shared by a second gateway on the same folder, and ends with the last', async () => {
      const dataDir = await temporaryFolder()
      const log = recordingLog()
      const [first, second] = await Promise.all([open(dataDir, log), open(dataDir, log)])
      expect(second.nativeUrl).toBe(first.nativeUrl)
      expect(log.lines.filter((line) => line.startsWith('Attached'))).toHaveLength(1)
      await first.close()
      expect(await ask(second, 'PING')).toBe('PONG')
      await second.close()
      await expect(ask(second, 'PING')).rejects.toThrow(/ENOENT|ECONNREFUSED/)
    })

    test('is restarted at the same address when it dies, for every gateway that uses it', async () => {
      const dataDir = await temporaryFolder()
      const [logOne, logTwo] = [recordingLog(), recordingLog()]
      const store = await open(dataDir, logOne)
      await open(dataDir, logTwo)
      const pid = await pidOf(store)
      process.kill(pid, 'SIGKILL')
      await Promise.all([
        logOne.said(/The store is running again/),
        logTwo.said(/The store is running again/),
      ])
      expect(logOne.lines).toContain('The store ended (signal SIGKILL); restarting it.')
      expect(await pidOf(store)).not.toBe(pid)
    })

    test('that outlived a killed gateway is taken over and later ended by the next', async () => {
      const dataDir = await temporaryFolder()
      const words = ['--gearman-port', 'off', '--faktory-port', 'off', '--web-port', '0']
      const gateway = startGateway([...words, '--store-port', '0', '--data-dir', dataDir])
      const { store: left } = await gateway.ready
      await gateway.end('SIGKILL')
      const log = recordingLog()
      const store = await open(dataDir, log)
      // The log does not have the password.
      expect(maskStoreUrl(store.nativeUrl)).toBe(left.nativeUrl)
      expect(await log.said(/^Attached/)).toContain('running store')
      await store.close()
      await expect(ask(store, 'PING')).rejects.toThrow(/ENOENT|ECONNREFUSED/)
    })

    test('listens on loopback alone where the path is too long for a unix socket', async () => {
      const dataDir = join(await temporaryFolder(), 'long'.repeat(30))
      const store = await open(dataDir)
      expect(store.address).toMatchObject({ host: '127.0.0.1', tls: false })
      expect(await ask(await open(dataDir), 'CONFIG', 'GET', 'dir')).toEqual(['dir', dataDir])
    })

    test('does not use the store of another folder', async () => {
      const other = await open(join(await temporaryFolder(), 'long'.repeat(30)))
      const dataDir = join(await temporaryFolder(), 'long'.repeat(30))
      await mkdir(dataDir)
      const { port } = new URL(other.nativeUrl)
      await writeFile(join(dataDir, 'store.json'), JSON.stringify({ port: Number(port), pid: 1 }))
      expect((await open(dataDir)).nativeUrl).not.toBe(other.nativeUrl)
    })

    test('takes over the lock of a gateway that was killed', async () => {
      const dataDir = await temporaryFolder()
      const gone = startGateway(['--version'])
      await gone.exited
      await writeFile(join(dataDir, 'store.lock'), String(gone.child.pid))
      await open(dataDir)
      await expect(access(join(dataDir, 'store.lock'))).rejects.toThrow('ENOENT')
    })

    test('refuses a store port that is in use', async () => {
      const port = await portOfTest(createServer())
      const dataDir = await temporaryFolder()
      const settings = { redisUrl: undefined, dataDir, storePort: port }
      const opening = openStore(settings, recordingLog().log)
      await expect(opening).rejects.toThrow(
        new StartError(
          `Port ${port} on 127.0.0.1 is in use: stop the other program or choose another with --store-port.`,
          1,
        ),
      )
    })

    test('reports in one line that it cannot start on damaged data', async () => {
      const dataDir = await temporaryFolder()
      await mkdir(join(dataDir, 'appendonlydir'))
      await writeFile(join(dataDir, 'appendonlydir/appendonly.aof.manifest'), 'nonsense\n')
      const failure = await open(dataDir).catch((error: unknown) => error)
      expect(failure).toBeInstanceOf(StartError)
      expect((failure as StartError).message).toMatch(/^.*: see .*store\.log.*$/)
      expect(await readFile(join(dataDir, 'store.log'), 'utf8')).not.toBe('')
    })

    test('refuses a folder that cannot be created', async () => {
      await expect(open('/dev/null/x')).rejects.toThrow(
        /^\/dev\/null\/x is not a folder \(ENOTDIR\): choose another with --data-dir or CROSSGEAR_DATA_DIR\.$/,
      )
    })
  },
)
