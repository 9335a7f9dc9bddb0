import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { lacksRedis, type RedisServer } from '@crossgear/tools/redis-server'
import { withRedisServer } from '@crossgear/tools/suites'
import { afterAll, describe, expect, test } from 'vitest'
import { gearMonkeyErrors, GearMonkeyClient } from '../../src/native/index.ts'

const readme = readFileSync(new URL('../../README.md', import.meta.url), 'utf8')
const examples = [...readme.matchAll(/^```ts\n(.*?)^```$/gms)].map(([, code = '']) => code)

test('the README lists exactly the errors that exist', () => {
  const rows = [...readme.matchAll(/^\| `([A-Z_]+)` +\| (.+?) +\|$/gm)]
  expect(Object.fromEntries(rows.map(([, code, meaning]) => [code, meaning]))).toEqual(
    gearMonkeyErrors,
  )
})

describe.skipIf(lacksRedis)('with redis-server, the README', () => {
  let redis: RedisServer
  let dir: string

  withRedisServer((server) => {
    redis = server
    // Within the package, so that an example finds it by its name.
    const folder = fileURLToPath(new URL('../../out-tsc/', import.meta.url))
    mkdirSync(folder, { recursive: true })
    dir = mkdtempSync(join(folder, 'readme-'))
  })

  afterAll(() => rmSync(dir, { recursive: true, force: true }))

  function start(index: number): ReturnType<typeof spawn> {
    const file = join(dir, `example-${index}.mts`)
    const code = (examples[index] ?? '').replaceAll('redis://127.0.0.1:6379', redis.url)
    writeFileSync(file, code)
    const options = ['--conditions=@crossgear/source', '--import', 'tsx']
    return spawn(process.execPath, [...options, file], {
      stdio: ['ignore', 'pipe', 'inherit'],
      env: { ...process.env, FORCE_COLOR: '0' },
    })
  }

  /** The output of an example, and the output promised by the comments behind its `console.log`. */
  async function outcome(index: number): Promise<{ printed: string[]; promised: string[] }> {
    const child = start(index)
    const printed = text(child.stdout ?? process.stdin)
    await once(child, 'exit')
    const lines = (examples[index] ?? '').matchAll(/console\.log\(.*\/\/ (.*)$/gm)
    return {
      printed: (await printed).trim().split('\n'),
      promised: [...lines].map(([, promise = '']) => promise),
    }
  }

  test('has a worker and a client that work together', async () => {
    const worker = start(0)
    const waiting = new GearMonkeyClient(redis.url)
    // Returns as soon as the worker has started.
    await waiting.run('reverse', '', { blocking: true })
    waiting.close()
    const { printed, promised } = await outcome(1)
    expect(printed).toEqual(promised)
    worker.kill('SIGTERM')
    expect((await once(worker, 'exit'))[0]).toBe(0)
  }, 30_000)

  test('has examples that print the output shown', async () => {
    expect(examples).toHaveLength(4)
    for (const index of [2, 3]) {
      const { printed, promised } = await outcome(index)
      expect(printed).toEqual(promised)
    }
  }, 30_000)
})
