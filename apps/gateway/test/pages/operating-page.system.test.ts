import { spawn } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { chmod, writeFile } from 'node:fs/promises'
import { hostname } from 'node:os'
import { text } from 'node:stream/consumers'
import { bundleWords } from '@crossgear/tools/gateway-program'
import { lacksRedis } from '@crossgear/tools/redis-server'
import { expect, onTestFinished, test } from 'vitest'
import { commands } from '../../src/commands/terminal/commands.ts'
import { exitCodes } from '../../src/commands/terminal/terminal-error.ts'
import { FwpClient } from '../doors/faktory/support/fwp-client.ts'
import { GearmanPeer } from '../doors/gearman/support/gearman-peer.ts'
import { gatewayOfTest, wordsOn } from '../support/gateway-process.ts'
import { redisOfTest } from '../support/redis-of-suite.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const page = new URL('../../../../docs/operate/operating.md', import.meta.url)
const password = 'sesame'

const nightly = `[[cron]]
name = "nightly"
schedule = "0 0 * * *"
job = { type = "report", args = ["nightly"] }
`

/** Set to write what the commands say into the page. */
const isWritten = process.env['CROSSGEAR_WRITE_PAGE'] === 'yes'

/** Without what differs from run to run: numbers, times, and what nodes and batches are called. */
function steady(output: string): string {
  return output
    .replaceAll(/^m[0-9a-f]{10}(?=[ :])|(?<=node )m[0-9a-f]{10}/gm, 'a-node')
    .replaceAll(/^b-[\w-]{16}(?= )/gm, 'a-batch')
    .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'time')
    .replaceAll(/\d+(\.\d+)?(e-\d+)?[smhd]?(\d\d[smh])?\b/g, '0')
    .replaceAll(/ +/g, ' ')
    .replaceAll(/ $/gm, '')
    .trim()
}

/** Functions with jobs in all states, and workers at both doors, some of them busy. */
async function fill(port: (door: string) => number): Promise<void> {
  const peer = async (...functions: readonly string[]): Promise<GearmanPeer> => {
    const connected = await GearmanPeer.ofTest(port('gearman'))
    for (const fn of functions) connected.send('CAN_DO', fn)
    await connected.sync()
    return connected
  }
  const client = await peer()
  const worker = await peer('mail')
  worker.send('SET_CLIENT_ID', 'mailer-1')
  for (const to of ['ann', 'bob', 'cy', 'dee']) await client.submit('SUBMIT_JOB_BG', 'mail', '', to)
  const done = await worker.ask('GRAB_JOB')
  worker.send('WORK_COMPLETE', done[1] ?? '', '')
  const held = await worker.ask('GRAB_JOB')
  worker.send('WORK_STATUS', held[1] ?? '', '3', '4')
  const consumer = await FwpClient.greeted(port('faktory'), {
    wid: 'worker-7',
    hostname: 'images',
    pid: 4242,
    labels: ['node'],
  })
  onTestFinished(() => consumer.close())
  const push = (jid: string, args: string, more = ''): Promise<string> =>
    consumer.ask(
      `PUSH {"jid":"${jid}","jobtype":"resize","queue":"bulk","args":${args},"retry":-1${more}}`,
    )
  await push('resize-0001', '["a.png"]')
  await consumer.ask('FETCH bulk')
  await consumer.ask(
    'FAIL {"jid":"resize-0001","errtype":"IOError","message":"disk full","backtrace":["resize.rb:17"]}',
  )
  await push('resize-0002', '["b.png"]')
  await consumer.ask('FETCH bulk')
  await consumer.ask('ACK {"jid":"resize-0002"}')
  await push('resize-0003', '["c.png"]', ',"at":"2099-01-01T00:00:00Z"')
  await consumer.ask('BATCH NEW {"description":"thumbnails","complete":{"jobtype":"r","args":[]}}')
  // A job of Gearman's that a Faktory worker does: the bridge.
  await client.submit('SUBMIT_JOB_BG', 'thumb', '', '"d.png"')
  const bridged = await consumer.ask('FETCH default')
  const jid = /"jid":"([^"]+)"/.exec(bridged)?.[1] ?? ''
  expect(await consumer.ask(`ACK {"jid":"${jid}"}`)).toBe('+OK')
  for (const month of ['March', 'April']) await client.submit('SUBMIT_JOB_BG', 'report', '', month)
}

/** Runs a line as printed. */
async function run(line: string, env: Readonly<Record<string, string>>): Promise<string> {
  const child = spawn('bash', ['-c', `exec 2>&1\n${line}`], {
    env,
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  return (await text(child.stdout)).trimEnd()
}

test.skipIf(lacksRedis)(
  'each command of docs/operate/operating.md prints the output shown there',
  async () => {
    const redis = await redisOfTest()
    const settings = `${await temporaryFolder()}/crossgear.toml`
    await writeFile(settings, nightly)
    const own = ['--web-password', password, '--handle-prefix', 'H:jobs', '--config', settings]
    const gateway = gatewayOfTest([...wordsOn(redis, 'gearman', 'faktory', 'web'), ...own])
    const ready = await gateway.ready
    const { port } = ready
    await fill(port)
    const folder = await temporaryFolder()
    const words = [process.execPath, ...bundleWords()].map((word) => `'${word}'`).join(' ')
    await writeFile(`${folder}/crossgear`, `#!/bin/sh\nexec ${words} "$@"\n`)
    await chmod(`${folder}/crossgear`, 0o755)
    const env = {
      PATH: `${folder}:${process.env['PATH'] ?? ''}`,
      CROSSGEAR_URL: `http://127.0.0.1:${port('web')}`,
      CROSSGEAR_WEB_PASSWORD: password,
    }

    const printed = readFileSync(page, 'utf8')
    const parts: string[] = []
    for (const part of printed.split(/(^```\n[^]*?^```$)/m)) {
      const lines = part.split('\n').filter((line) => line.startsWith('$ '))
      if (!part.startsWith('```') || lines.length === 0) {
        parts.push(part)
        continue
      }
      const said: string[] = []
      for (const line of lines) {
        const output = await run(line.slice(2), env)
        said.push([line, output].filter((words) => words !== '').join('\n'))
      }
      parts.push(`\`\`\`\n${said.join('\n')}\n\`\`\``)
    }
    const rerun = parts
      .join('')
      .replaceAll(env.CROSSGEAR_URL, 'http://127.0.0.1:7420')
      .replaceAll(new RegExp(`(?<= )${hostname()}(?= )`, 'g'), 'gate-1')
    if (isWritten) writeFileSync(page, rerun)
    else expect(steady(rerun)).toBe(steady(printed))
  },
)

test('docs/operate/operating.md names every command and every exit code', () => {
  const printed = readFileSync(page, 'utf8')
  for (const { words } of commands) expect(printed).toContain(`crossgear ${words.join(' ')}`)
  const listed = [...printed.matchAll(/^\| (\d) +\|/gm)].map(([, code]) => Number(code))
  expect(listed).toEqual([...new Set(Object.values(exitCodes))].sort())
})
