import { hashPassword } from '@crossgear/fwp-codec'
import { expect, test } from 'vitest'
import { describeFaktory } from './support/faktory-gateway.ts'
import type { FwpClient } from './support/fwp-client.ts'

const helloTimerMs = 2_000

describeFaktory('the handshake', (gateways) => {
  test.each([
    ['another verb', 'INFO', 'the first command must be HELLO {...}'],
    ['bad JSON', 'HELLO {"v":2', 'invalid HELLO: invalid JSON: unexpected end of JSON input'],
  ])('counts %s, which it refuses, and closes', async (_name, line, text) => {
    const { stranger, rejections } = await gateways.open()
    const client = await stranger()
    await client.reply()
    expect(await client.ask(line)).toBe(`-ERR ${text}`)
    expect(await client.closed()).toBe('')
    expect(rejections).toEqual(['hello'])
  })

  test('closes on a client that says nothing for two seconds', async () => {
    const { stranger, clock, rejections } = await gateways.open()
    const client = await stranger()
    await client.reply()
    clock.advance(helloTimerMs - 1)
    clock.advance(1)
    expect(await client.closed()).toBe('')
    expect(rejections).toEqual(['silence'])
  })

  test('lets a client that has said HELLO be silent', async () => {
    const { client, clock } = await gateways.open()
    const one = await client()
    clock.advance(helloTimerMs)
    expect(await one.ask('FOO')).toBe('-ERR unknown command FOO')
  })

  test('refuses an address that has its maximum of connections', async () => {
    const { client, stranger, rejections } = await gateways.open({ sockets: { maxPerAddress: 1 } })
    await client()
    const second = await stranger()
    expect(await second.reply()).toBe('-ERR too many connections from this address')
    await second.closed()
    expect(rejections).toEqual(['address_connections'])
  })

  test('refuses one connection too many and frees the place of one that leaves', async () => {
    const { client, stranger, rejections, door } = await gateways.open({ maxConnections: 2 })
    const first = await client()
    const second = await client()
    const third = await stranger()
    expect(await third.reply()).toBe('-ERR too many connections: 3')
    expect(await third.closed()).toBe('')
    expect(rejections).toEqual(['connections'])
    expect(await first.ask('END')).toBe('+OK')
    await first.closed()
    await second.ask('INFO')
    expect(door.connections).toBe(1)
    await client()
  })

  test('bounds the first line', async () => {
    const { stranger, rejections } = await gateways.open()
    const client = await stranger()
    await client.reply()
    client.sendRaw(`HELLO {"v":2,"x":"${'x'.repeat(70_000)}`)
    expect(await client.reply()).toMatch(/^-ERR line too long/)
    await client.closed()
    expect(rejections).toEqual(['line'])
  })

  test('bounds the lines after it', async () => {
    const { client, rejections } = await gateways.open({ maxLineBytes: 100_000 })
    const one = await client()
    one.sendRaw(`PUSH ${'x'.repeat(90_000)}\r\n`)
    expect(await one.reply()).toMatch(/^-ERR invalid JSON/)
    one.sendRaw(`PUSH ${'x'.repeat(100_001)}`)
    expect(await one.reply()).toBe('-ERR line too long: at most 100000 bytes')
    await one.closed()
    expect(rejections).toEqual(['line'])
  })
})

describeFaktory('the password', (gateways) => {
  const password = 'sesame'

  async function challenge(client: FwpClient): Promise<{ i: number; s: string }> {
    const hi = await client.reply()
    expect(hi).toMatch(/^\+HI \{"v":2,"i":\d+,"s":"[0-9a-f]+"\}$/)
    return JSON.parse(hi.slice(4)) as { i: number; s: string }
  }

  test('admits a client that knows it', async () => {
    const { stranger } = await gateways.open({ password })
    const client = await stranger()
    const { i, s } = await challenge(client)
    expect(i).toBeGreaterThanOrEqual(4000)
    expect(i).toBeLessThanOrEqual(8095)
    const pwdhash = hashPassword(password, s, i)
    expect(await client.ask(`HELLO ${JSON.stringify({ v: 2, pwdhash })}`)).toBe('+OK')
  })

  test('gives a new challenge after ten seconds, and accepts the old one from clients that got it', async () => {
    const { stranger, clock } = await gateways.open({ password, helloWithinMs: 1e9 })
    const early = await stranger()
    const first = await challenge(early)
    clock.advance(10_000)
    const late = await stranger()
    const second = await challenge(late)
    expect(second.s).not.toBe(first.s)
    const pwdhash = hashPassword(password, first.s, first.i)
    expect(await late.ask(`HELLO ${JSON.stringify({ v: 2, pwdhash })}`)).toBe(
      '-ERR Invalid password',
    )
    expect(await early.ask(`HELLO ${JSON.stringify({ v: 2, pwdhash })}`)).toBe('+OK')
  })

  async function answerTo(client: FwpClient, secret: string): Promise<string> {
    const { i, s } = await challenge(client)
    const pwdhash = hashPassword(secret, s, i)
    return client.ask(`HELLO ${JSON.stringify({ v: 2, pwdhash })}`)
  }

  const spent = '-ERR too many wrong passwords from this address, try again in a minute'

  test('has a limit of wrong attempts from one address, and room again a minute later', async () => {
    const { stranger, clock, rejections } = await gateways.open({ password, passwordTries: 2 })
    expect(await answerTo(await stranger(), 'guess 1')).toBe('-ERR Invalid password')
    expect(await answerTo(await stranger(), password)).toBe('+OK')
    expect(await answerTo(await stranger(), 'guess 2')).toBe('-ERR Invalid password')
    const turnedAway = await stranger()
    expect(await turnedAway.reply()).toBe(spent)
    expect(await turnedAway.closed()).toBe('')
    clock.advance(60_000)
    expect(await answerTo(await stranger(), password)).toBe('+OK')
    expect(rejections).toEqual(['password', 'password', 'password_tries'])
  })

  test('counts wrong passwords on connections that were greeted together, and keeps admitted ones', async () => {
    const { stranger } = await gateways.open({ password, passwordTries: 1 })
    const admitted = await stranger()
    expect(await answerTo(admitted, password)).toBe('+OK')
    const [one, two] = [await stranger(), await stranger()]
    expect(await answerTo(one, 'guess 1')).toBe('-ERR Invalid password')
    expect(await answerTo(two, password)).toBe(spent)
    expect(await two.closed()).toBe('')
    expect(await admitted.ask('FOO')).toBe('-ERR unknown command FOO')
  })

  test('has no limit of attempts where the operator sets none', async () => {
    const { stranger } = await gateways.open({ password, passwordTries: 0 })
    for (let tries = 0; tries < 20; tries += 1) {
      expect(await answerTo(await stranger(), 'guess')).toBe('-ERR Invalid password')
    }
  })
})
