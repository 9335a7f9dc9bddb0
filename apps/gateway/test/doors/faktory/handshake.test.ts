import { expect, test } from 'vitest'
import { describeFaktory } from './support/faktory-gateway.ts'

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

  test('admits a client that knows it', async () => {
    const { stranger } = await gateways.open({ password })
    const client = await stranger()
    const challenge = await client.challenge()
    expect(challenge.i).toBeGreaterThanOrEqual(4000)
    expect(challenge.i).toBeLessThanOrEqual(8095)
    expect(await client.prove(password, challenge)).toBe('+OK')
  })

  test('gives a new challenge after ten seconds, and accepts the old one from clients that got it', async () => {
    const { stranger, clock } = await gateways.open({ password, helloWithinMs: 1e9 })
    const early = await stranger()
    const first = await early.challenge()
    clock.advance(10_000)
    const late = await stranger()
    expect((await late.challenge()).s).not.toBe(first.s)
    expect(await late.prove(password, first)).toBe('-ERR Invalid password')
    expect(await early.prove(password, first)).toBe('+OK')
  })

  const spent = '-ERR too many wrong passwords from this address, try again in a minute'

  test('has a limit of wrong attempts from one address, and room again a minute later', async () => {
    const { stranger, clock, rejections } = await gateways.open({ password, passwordTries: 2 })
    expect(await (await stranger()).logIn('guess 1')).toBe('-ERR Invalid password')
    expect(await (await stranger()).logIn(password)).toBe('+OK')
    expect(await (await stranger()).logIn('guess 2')).toBe('-ERR Invalid password')
    const turnedAway = await stranger()
    expect(await turnedAway.reply()).toBe(spent)
    expect(await turnedAway.closed()).toBe('')
    clock.advance(60_000)
    expect(await (await stranger()).logIn(password)).toBe('+OK')
    expect(rejections).toEqual(['password', 'password', 'password_tries'])
  })

  test('counts wrong passwords on connections that were greeted together, and keeps admitted ones', async () => {
    const { stranger } = await gateways.open({ password, passwordTries: 1 })
    const admitted = await stranger()
    expect(await admitted.logIn(password)).toBe('+OK')
    const [one, two] = [await stranger(), await stranger()]
    expect(await one.logIn('guess 1')).toBe('-ERR Invalid password')
    expect(await two.logIn(password)).toBe(spent)
    expect(await two.closed()).toBe('')
    expect(await admitted.ask('FOO')).toBe('-ERR unknown command FOO')
  })

  test('has no limit of attempts where the operator sets none', async () => {
    const { stranger } = await gateways.open({ password, passwordTries: 0 })
    for (let tries = 0; tries < 20; tries += 1) {
      expect(await (await stranger()).logIn('guess')).toBe('-ERR Invalid password')
    }
  })
})
