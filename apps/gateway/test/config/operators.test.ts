import { PassThrough } from 'node:stream'
import { describe, expect, test } from 'vitest'
import { hashPassword, isPasswordOf, readPasswordHash } from '../../src/config/password-hash.ts'
import { runPassword } from '../../src/commands/password/run-password.ts'
import { loadFile, refusal } from '../support/settings.ts'

const hash = `scrypt:15:8:3:${'s'.repeat(22)}:${'k'.repeat(43)}`

describe('people of the configuration', () => {
  const hashed = `password_hash = "${hash}"`
  test('have a hash, a role and perhaps queues', async () => {
    const { operators } = await loadFile(
      `[operators.alice]\n${hashed}\nrole = "view"\nqueues = ["mail*"]\n`,
    )
    expect([...operators]).toMatchObject([['alice', { role: 'view', queues: ['mail*'] }]])
  })

  test.each([
    ['no table', 'operators = 1', 'operators', 'is not a table: write [operators.<name>]'],
    ['a name that is none', '[operators."a b"]', 'operators.a b', 'is no name: give 1 to 64'],
  ])('with %s do not start', async (_name, text, place, fault) => {
    expect(await refusal(() => loadFile(text))).toContain(`${place} in FILE ${fault}`)
  })

  const wrong = 'is wrong: give what crossgear password prints.'
  test.each([
    ['no hash', 'role = "view"', 'password_hash', 'is missing: give'],
    ['a hash that is none', 'password_hash = "secret"\nrole = "view"', 'password_hash', wrong],
    [
      'a hash whose login takes too much memory',
      hashed.replace(':15:', ':17:'),
      'password_hash',
      'is wrong: give',
    ],
    ['a hash that is too cheap', hashed.replace(':15:', ':10:'), 'password_hash', 'is wrong: give'],
    ['no role', hashed, 'role', 'is missing: give'],
    ['a wrong role', `${hashed}\nrole = "root"`, 'role', 'is "root": give view, operate, admin.'],
    ['no queues', `${hashed}\nrole = "view"\nqueues = []`, 'queues', 'is []: give a list'],
    [
      'queues that are no list',
      `${hashed}\nrole = "view"\nqueues = "mail"`,
      'queues',
      'is "mail": give a list',
    ],
    ['an unknown key', 'roles = "view"', 'roles', 'is unknown: use role'],
  ])(
    'with %s do not start: one line with the place of the key',
    async (_name, text, key, fault) => {
      const line = await refusal(() => loadFile(`[operators.a]\n${text}\n`))
      expect(line).toContain(`operators.a.${key} in FILE ${fault}`)
      expect(line).not.toContain('secret')
    },
  )

  test('a hash is of one password, whatever way its letters are composed', async () => {
    const made = readPasswordHash(await hashPassword('caf\u00e9 au lait'))
    if (!made) expect.unreachable()
    expect(await isPasswordOf('cafe\u0301 au lait', made)).toBe(true)
    expect(await isPasswordOf('cafe au lait', made)).toBe(false)
  })
})

/** Runs `crossgear password` with lines, typed at a terminal or piped. */
async function password(lines: readonly string[], isTTY: boolean) {
  const raw: boolean[] = []
  const stdin = Object.assign(new PassThrough(), {
    isTTY,
    setRawMode: (isRaw: boolean) => raw.push(isRaw),
  })
  const said = { stdout: '', stderr: '' }
  const out = (name: keyof typeof said) => ({ write: (text: string) => void (said[name] += text) })
  const running = runPassword([], {
    stdin: stdin as unknown as NodeJS.ReadStream,
    stdout: out('stdout'),
    stderr: out('stderr'),
  })
  for (const line of lines) {
    stdin.write(line)
    await new Promise((resolve) => setImmediate(resolve))
  }
  if (!isTTY) stdin.end()
  return { code: await running, ...said, raw }
}

describe('crossgear password', () => {
  test('asks a terminal twice, shows nothing, and prints the line to paste', async () => {
    const made = await password(['correx\u007fct horse\r', 'correct horse\r'], true)
    expect(made).toMatchObject({ code: 0, stderr: 'Password: \nAgain: \n' })
    expect(made.raw).toEqual([true, false, true, false])
    const [, text = ''] = /^password_hash = "([^"]+)"\n$/.exec(made.stdout) ?? []
    const read = readPasswordHash(text)
    if (!read) expect.unreachable()
    expect(await isPasswordOf('correct horse', read)).toBe(true)
  })

  test('takes one line of standard input', async () => {
    const made = await password(['correct horse\nmore'], false)
    expect(made).toMatchObject({ code: 0, stderr: '', raw: [] })
    expect(made.stdout).toMatch(/^password_hash = "scrypt:15:8:3:/)
  })

  test.each([
    ['two that differ', ['correct horse\r', 'battery staple\r'], true, 'The two passwords differ'],
    ['a short one', ['short\r'], true, 'The password is shorter than 8 letters'],
    ['none', [], false, 'The password is shorter than 8 letters'],
    ['one that is too long', ['x'.repeat(1_100)], false, 'The password is longer than 1024'],
    ['an interrupt', ['abc\u0003'], true, 'Stopped.'],
  ])('refuses %s', async (_name, lines, isTTY, reason) => {
    const { code, stdout, stderr } = await password(lines, isTTY)
    expect([code, stdout]).toEqual([2, ''])
    expect(stderr).toContain(reason)
  })
})
