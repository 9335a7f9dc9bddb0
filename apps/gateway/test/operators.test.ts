import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { describe, expect, test } from 'vitest'
import { loadConfig } from '../src/config/load-config.ts'
import { hashPassword, isPasswordOf, readPasswordHash } from '../src/config/password-hash.ts'
import { StartError } from '../src/errors.ts'
import { runPassword } from '../src/password/run-password.ts'
import { temporaryFolder } from './support/temporary-folder.ts'

const hash = `scrypt:15:8:3:${'s'.repeat(22)}:${'k'.repeat(43)}`

async function load(text: string) {
  const config = join(await temporaryFolder(), 'crossgear.toml')
  await writeFile(config, text)
  return { config, load: () => loadConfig({ flags: { config }, env: {} }) }
}

describe('people of the configuration', () => {
  test('have a hash, a role and perhaps queues', async () => {
    const { load: read } = await load(
      `[operators.alice]\npassword_hash = "${hash}"\nrole = "view"\nqueues = ["mail*"]\n`,
    )
    expect([...read().operators]).toMatchObject([['alice', { role: 'view', queues: ['mail*'] }]])
  })

  test.each([
    ['no table', 'operators = 1', 'operators', 'is not a table: write [operators.<name>]'],
    ['a name that is none', '[operators."a b"]', 'operators.a b', 'is no name: give 1 to 64'],
    ['no hash', '[operators.a]\nrole = "view"', 'operators.a.password_hash', 'is missing: give'],
    [
      ...([
        'a hash that is none',
        '[operators.a]\npassword_hash = "secret"\nrole = "view"',
      ] as const),
      ...(['operators.a.password_hash', 'is wrong: give what crossgear password prints.'] as const),
    ],
    [
      'a hash whose login takes too much memory',
      `[operators.a]\npassword_hash = "${hash.replace(':15:', ':17:')}"\nrole = "view"`,
      ...(['operators.a.password_hash', 'is wrong: give'] as const),
    ],
    [
      'a hash that is too cheap',
      `[operators.a]\npassword_hash = "${hash.replace(':15:', ':10:')}"\nrole = "view"`,
      ...(['operators.a.password_hash', 'is wrong: give'] as const),
    ],
    ['no role', `[operators.a]\npassword_hash = "${hash}"`, 'operators.a.role', 'is missing: give'],
    [
      ...(['a wrong role', `[operators.a]\npassword_hash = "${hash}"\nrole = "root"`] as const),
      ...(['operators.a.role', 'is "root": give view, operate, admin.'] as const),
    ],
    [
      'no queues',
      `[operators.a]\npassword_hash = "${hash}"\nrole = "view"\nqueues = []`,
      ...(['operators.a.queues', 'is []: give a list'] as const),
    ],
    [
      'queues that are no list',
      `[operators.a]\npassword_hash = "${hash}"\nrole = "view"\nqueues = "mail"`,
      ...(['operators.a.queues', 'is "mail": give a list'] as const),
    ],
    [
      'an unknown key',
      '[operators.a]\nroles = "view"',
      'operators.a.roles',
      'is unknown: use role',
    ],
  ])(
    'with %s do not start: one line with the place of the key',
    async (_name, text, place, fault) => {
      const { config, load: read } = await load(`${text}\n`)
      try {
        read()
        expect.unreachable()
      } catch (error) {
        expect(error).toBeInstanceOf(StartError)
        const { message, exitCode } = error as StartError
        expect(exitCode).toBe(2)
        expect(message).toContain(`${place} in ${config} ${fault}`)
        expect(message).not.toContain('\n')
        expect(message).not.toContain('secret')
      }
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
    ...{ stdin: stdin as unknown as NodeJS.ReadStream },
    ...{ stdout: out('stdout'), stderr: out('stderr') },
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
