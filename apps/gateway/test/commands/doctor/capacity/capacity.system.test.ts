import { readdirSync, readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { lacksRedis } from '@crossgear/tools/redis-server'
import type { Capacity } from '../../../../src/commands/doctor/capacity/report.ts'
import { startGateway } from '../../../support/gateway-process.ts'
import { temporaryFolder } from '../../../support/temporary-folder.ts'

const kinds = ['faktory', 'foreground', 'background'] as const

/** Processes that this one has started, by their command lines. */
function childrenOf(parent: number, command: RegExp): readonly number[] {
  const children = readFileSync(`/proc/${parent}/task/${parent}/children`, 'utf8')
  const pids = children.split(' ').filter((pid) => pid !== '')
  return pids.map(Number).filter((pid) => command.test(commandOf(pid)))
}

/** The words of a process, each with a zero byte behind it; empty where it has ended. */
function commandOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8')
  } catch {
    return ''
  }
}

describe('crossgear doctor --capacity', () => {
  test.skipIf(lacksRedis)(
    'measures what a job takes, checks it, and leaves no file and no process',
    async () => {
      const folder = await temporaryFolder()
      const words = ['doctor', '--capacity', '--seconds', '1', '--json']
      const { code, stdout, stderr } = await startGateway(words, { TMPDIR: folder }).exited
      expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
      const { terms, checks, plans, server } = JSON.parse(stdout) as Capacity
      expect(server).toMatch(/^(Redis|Valkey) \d/)
      for (const kind of kinds) {
        const { gatewayUs, redisUs, traffic } = terms.jobs[kind]
        for (const { base } of [gatewayUs, redisUs, traffic]) expect(base).toBeGreaterThan(1)
        expect(traffic.perKib).toBeGreaterThan(500)
        expect(plans[kind].map(({ jobsPerSecond }) => jobsPerSecond)).toEqual([1e3, 1e4, 1e5, 1e6])
      }
      expect(terms.waitingBytes.base).toBeGreaterThan(100)
      expect(terms.waitingBytes.perKib).toBeGreaterThan(1_000)
      expect(terms.connectionBytes).toBeGreaterThan(100)
      expect(checks.map(({ loads }) => loads.length)).toEqual([1, 1, 2])
      for (const { jobsPerSecond, predictedUs, measuredUs } of checks) {
        for (const figure of [jobsPerSecond, predictedUs, measuredUs])
          expect(figure).toBeGreaterThan(1)
      }
      expect(readdirSync(folder)).toEqual([])
    },
  )

  test.skipIf(lacksRedis)('ends what it has started when it is stopped', async () => {
    const folder = await temporaryFolder()
    const running = startGateway(['doctor', '--capacity'], { TMPDIR: folder })
    await expect.poll(() => readdirSync(folder)).not.toEqual([])
    running.child.kill('SIGINT')
    const { code } = await running.exited
    expect(code).not.toBe(0)
    expect(readdirSync(folder)).toEqual([])
  })

  test.skipIf(lacksRedis)(
    'says so where its gateway ends meanwhile, and leaves nothing',
    async () => {
      const folder = await temporaryFolder()
      const running = startGateway(['doctor', '--capacity'], { TMPDIR: folder })
      const gateways = () => childrenOf(running.child.pid ?? 0, /\0serve\0/)
      await expect.poll(gateways).toHaveLength(1)
      const [gateway = 0] = gateways()
      const filesOf = (): number => readdirSync(`/proc/${gateway}/fd`).length
      const atFirst = filesOf()
      // A load has connected to the gateway.
      await expect.poll(filesOf).toBeGreaterThan(atFirst + 24)
      process.kill(gateway, 'SIGKILL')
      const { code, stderr } = await running.exited
      expect(code).toBe(2)
      // The reason is the end of the gateway, or of a connection to it.
      expect(stderr).toMatch(/^The measurement failed: [^\n]+\.\n$/)
      expect(readdirSync(folder)).toEqual([])
    },
  )

  test('measures Redis alone, and says so where there is none', async () => {
    const env = { PATH: await temporaryFolder(), TMPDIR: await temporaryFolder() }
    const { code, stdout, stderr } = await startGateway(['doctor', '--capacity'], env).exited
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
    expect(stderr).toMatch(/^No redis-server or valkey-server is on PATH, .* install one\.\n$/)
  })

  test.each([
    [['--capacity', '--redis-url', 'redis://127.0.0.1:6379'], /^--capacity measures a store of/],
    [['--capacity', '--full'], /^--capacity measures a store of/],
    [['--seconds', '2'], /^--seconds goes with --capacity\.\n$/],
    [['--capacity', '--seconds', '0'], /Give a whole number from 1 to 60/],
  ])('refuses %j in one line', async (words, refusal) => {
    const { code, stdout, stderr } = await startGateway(['doctor', ...words]).exited
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
    expect(stderr).toMatch(refusal)
  })
})
