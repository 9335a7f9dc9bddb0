import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, constants, mkdtempSync, openSync, readSync, rmSync, writeSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { bundleWords } from '@crossgear/tools/gateway-program'
import { lacksRedis } from '@crossgear/tools/redis-server'
import { describe, expect, onTestFinished, test } from 'vitest'
import { LogOutput } from '../../../src/config/log/log-output.ts'
import type { ReadyLine } from '../../support/gateway-process.ts'
import { redisOfSuite } from '../../support/redis-of-suite.ts'

/** A pipe with both its ends; each end that is opened has its own flags. */
function openPipe() {
  const folder = mkdtempSync(join(tmpdir(), 'crossgear-pipe-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const path = join(folder, 'pipe')
  expect(spawnSync('mkfifo', [path]).status).toBe(0)
  const open = (flags: number): number => {
    const fd = openSync(path, flags)
    onTestFinished(() => closeSync(fd))
    return fd
  }
  const reader = open(constants.O_RDONLY | constants.O_NONBLOCK)
  const filler = open(constants.O_WRONLY | constants.O_NONBLOCK)
  /** Calls until the pipe has no more to give, or takes no more; the bytes. */
  const toTheEnd = (call: () => number): number => {
    let bytes = 0
    try {
      for (let some = call(); some > 0; some = call()) bytes += some
    } catch (error) {
      expect(error).toMatchObject({ code: 'EAGAIN' })
    }
    return bytes
  }
  const buffer = Buffer.alloc(65_536)
  let text = ''
  return {
    /** An end that waits, as a shell gives it. */
    writer: open(constants.O_WRONLY),
    filler,
    fill: () => toTheEnd(() => writeSync(filler, Buffer.alloc(1, '\n'))),
    /** All that came so far. */
    read: (): string => {
      toTheEnd(() => {
        const bytes = readSync(reader, buffer)
        text += buffer.toString('latin1', 0, bytes)
        return bytes
      })
      return text
    },
  }
}

describe('a log whose reader does not read', () => {
  test('keeps some lines and counts the others, until it is read again', async () => {
    const pipe = openPipe()
    const dropped: number[] = []
    const output = new LogOutput(pipe.writer, (lines) => dropped.push(lines))
    pipe.fill()
    const lines = Array.from({ length: 30 }, (_none, at) => `${at} ${'x'.repeat(50_000)}\n`)
    for (const line of lines) output.stream.write(line)
    await output.written(0)
    expect(dropped).toEqual([])
    await expect.poll(() => (pipe.read(), dropped)).toHaveLength(1)
    await output.written(Infinity)
    const kept = lines.length - (dropped[0] ?? 0)
    expect(kept).toBeGreaterThanOrEqual(20)
    expect(kept).toBeLessThan(lines.length)
    output.stream.write('the next line\n')
    const expected = [...lines.slice(0, kept), 'the next line\n'].join('')
    expect(pipe.read().trimStart()).toBe(expected)
  })
})

describe.skipIf(lacksRedis)('a gateway whose log is not read', () => {
  const redis = redisOfSuite()

  test.each(['json', 'text'])('serves its doors and ends at SIGTERM, as %s', async (format) => {
    const pipe = openPipe()
    const ports = ['faktory', 'http', 'web'].flatMap((door) => [`--${door}-port`, 'off'])
    const words = [
      'serve',
      '--host',
      '127.0.0.1',
      '--gearman-port',
      '0',
      ...ports,
      '--redis-url',
      `unix://${redis().path}`,
      '--log-level',
      'debug',
      '--log-format',
      format,
    ]
    const child = spawn(process.execPath, [...bundleWords(), ...words], {
      env: { PATH: process.env['PATH'] },
      stdio: ['ignore', pipe.writer, 'ignore'],
    })
    onTestFinished(() => void child.kill('SIGKILL'))
    const exited = once(child, 'exit')
    const isReady = format === 'json' ? /^.*"msg":"Ready\.".*$/m : /^ +Gearman +127\.0\.0\.1:\d+/m
    await expect.poll(pipe.read).toMatch(isReady)
    const [line = ''] = isReady.exec(pipe.read()) ?? []
    const port =
      format === 'json'
        ? (JSON.parse(line) as ReadyLine).doors[0]?.port
        : Number(/127\.0\.0\.1:(\d+)/.exec(line)?.[1])
    pipe.fill()
    for (let call = 0; call < 3; call += 1) {
      const socket = connect(port ?? 0, '127.0.0.1')
      socket.write('version\n')
      const [answer] = (await once(socket, 'data')) as [Buffer]
      expect(answer.toString()).toMatch(/^OK /)
      socket.destroy()
    }
    child.kill('SIGTERM')
    expect(await exited).toEqual([0, null])
  })
})
