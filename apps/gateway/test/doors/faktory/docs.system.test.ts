import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { promisify } from 'node:util'
import { lacks } from '@crossgear/tools/lacks'
import { describe, expect, test } from 'vitest'
import { gatewayOfTest } from '../../support/gateway-process.ts'
import { loadFile } from '../../support/settings.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'
import { describeFaktory } from './support/faktory-gateway.ts'

const page = readFileSync(new URL('../../../../../docs/bridge/faktory.md', import.meta.url), 'utf8')

/** The examples of the page in one language. */
function examples(language: string): string[] {
  const blocks = page.matchAll(/^```(\w*)\n([\s\S]*?)^```$/gm)
  return [...blocks].flatMap(([, name, text = '']) => (name === language ? [text.trim()] : []))
}

/** Replaces what differs from run to run, and the lengths that go with it. */
function steady(reply: string, bid: string): string {
  const text = reply.replace(/^\$\d+\r\n/, '').replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'TIME')
  return bid === '' ? text : text.replaceAll(bid, 'BID')
}

/** Commands, each with the reply that stands below it. */
function session(text: string): (readonly [string, string])[] {
  return text.split(/\n(?=[A-Z]{3,})/).map((step) => {
    const [command = '', ...reply] = step.split('\n')
    return [command, reply.join('\r\n')] as const
  })
}

describeFaktory('docs/bridge/faktory.md', (gateways) => {
  test.each(examples('json'))('the job %s is taken', async (job) => {
    expect(await (await gateways.client()).ask(`PUSH ${job}`)).toBe('+OK')
  })

  test.each(examples(''))('the server answers as it says: %s', async (text) => {
    const one = await gateways.client({ wid: 'worker-1' })
    const [, bidShown = ''] = /BATCH COMMIT (\S+)/.exec(text) ?? []
    let bid = ''
    for (const [command, expected] of session(text)) {
      const sent = bid === '' ? command : command.replaceAll(bidShown, bid)
      const reply = await one.ask(sent)
      if (command.startsWith('BATCH NEW')) bid = steady(reply, '')
      expect([command, steady(reply, bid)]).toEqual([command, steady(expected, bidShown)])
    }
  })

  test.each(examples('toml'))('the gateway takes the file %s', async (text) => {
    const { cron, throttles } = await loadFile(text)
    expect(cron.length + throttles.size).toBeGreaterThan(0)
  })
})

const lacksCurl = lacks('curl', '--version')

describe.skipIf(lacksCurl)('docs/bridge/faktory.md by curl', () => {
  test('an operator’s commands are carried out', async () => {
    const folder = await temporaryFolder()
    const doors = ['--gearman-port', 'off', '--faktory-port', '0', '--web-port', '0']
    const words = [...doors, '--store-port', '0', '--data-dir', folder]
    const port = (await gatewayOfTest(words, { PATH: '' }).ready).port('web')
    const commands = examples('sh').filter((text) => text.startsWith('curl'))
    expect(commands).toHaveLength(2)
    for (const command of commands) {
      const script = command.replaceAll('curl ', 'curl -sSf ').replaceAll(':7420/', `:${port}/`)
      const { stdout } = await promisify(execFile)('sh', ['-ec', script])
      expect(stdout).toMatch(/^\{"(wid|name)":/)
    }
  })
})
