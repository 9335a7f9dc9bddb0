import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { webHostOf } from '../../../src/config/load-config.ts'
import { readWords } from '../../../src/commands/faktory/program.ts'
import { settle } from '../../../src/commands/faktory/settings.ts'
import { checkOpenNetwork } from '../../../src/server/open-network.ts'
import { configFolder, settings, writeFiles } from './support/faktory-command.ts'

const password = { 'conf.d/password.toml': '[faktory]\npassword = "sesame"\n' }

describe('the settings of crossgear faktory', () => {
  test('-l verbose is debug', async () => {
    expect(settings(['-c', await configFolder(), '-l', 'verbose']).logLevel).toBe('debug')
  })

  test('the password: FAKTORY_PASSWORD wins over the files, conf.d over the file password', async () => {
    const folder = await configFolder({ ...password, password: 'from the file\n' })
    const found = (env = {}, ...words: string[]) =>
      settings(['-c', folder, ...words], { FAKTORY_ENV: 'production', ...env }).faktoryPassword
    expect(found({ FAKTORY_PASSWORD: 'variable' })).toBe('variable')
    expect(found()).toBe('sesame')
    writeFiles(folder, { 'conf.d/password.toml': '' })
    expect(found()).toBe('from the file')
    expect(found({}, '-e', 'development')).toBeUndefined()
  })

  test('the web port has the password of [web], of FAKTORY_WEBUI_PASSWORD, or that of the Faktory port', async () => {
    const folder = await configFolder(password)
    const found = (env = {}) => settings(['-c', folder], env).webPassword
    expect(found()).toBe('sesame')
    writeFiles(folder, { 'conf.d/web.toml': '[web]\npassword = "web"\n' })
    expect(found()).toBe('web')
    expect(found({ FAKTORY_WEBUI_PASSWORD: 'ui' })).toBe('ui')
  })

  test('bindings: an option wins over a variable, that over the file', async () => {
    const text = '[faktory]\nbinding = "127.0.0.1:7001"\n[web]\nbinding = ":0"\n'
    const folder = await configFolder({ 'conf.d/a.toml': text })
    const ports = (words: readonly string[], env = {}) => {
      const { faktoryPort, webPort } = settings(['-c', folder, ...words], env)
      return [faktoryPort, webPort]
    }
    expect(ports([])).toEqual([7001, 'off'])
    const variables = { CROSSGEAR_FAKTORY_PORT: '7002', CROSSGEAR_WEB_PORT: '0' }
    expect(ports([], variables)).toEqual([7002, 0])
    expect(ports(['-b', '127.0.0.1:7003'], variables)).toEqual([7003, 0])
  })

  test('in the environment of the container image both ports are open to the network', async () => {
    const ports = { CROSSGEAR_FAKTORY_PORT: '0', CROSSGEAR_WEB_PORT: '0' }
    const env = { ...ports, CROSSGEAR_HOST: '*', FAKTORY_PASSWORD: 'x' }
    const config = settings(['-c', await configFolder(), '-e', 'production'], env)
    expect([config.host, webHostOf(config), config.gearmanPort]).toEqual(['*', '*', 'off'])
    expect(await checkOpenNetwork(config)).toEqual([])
  })

  test('the web port listens where a variable or the file says, and not where -b does', async () => {
    const words = ['-c', await configFolder()]
    const file = join(
      await configFolder({ 'crossgear.toml': 'host = "10.0.0.9"' }),
      'crossgear.toml',
    )
    const hostWith = (env: Record<string, string>, ...more: string[]) =>
      webHostOf(settings([...words, ...more], env))
    expect(hostWith({}, '-b', ':0')).toBe('localhost')
    expect(hostWith({ CROSSGEAR_HOST: '::1' })).toBe('::1')
    expect(hostWith({ CROSSGEAR_CONFIG: file })).toBe('10.0.0.9')
    expect(hostWith({ CROSSGEAR_CONFIG: file, CROSSGEAR_WEB_HOST: '::1' })).toBe('::1')
  })

  test('the Gearman port is open where CROSSGEAR_GEARMAN_PORT says so', async () => {
    const env = { CROSSGEAR_GEARMAN_PORT: '0' }
    const { gearmanPort, host } = settings(['-c', await configFolder()], env)
    expect([gearmanPort, host]).toEqual([0, 'localhost'])
  })

  test.each([
    [['-l', 'warn', 'serve', '-l', 'debug', '-x'], 'warn', 'serve -l debug -x'],
    [['-l=warn', '--', '-l', 'debug'], 'warn', '-- -l debug'],
    [['-'], 'info', '-'],
  ])('surplus words end the options, as there: %j', async (words, level, ignored) => {
    const given = readWords(['-c', await configFolder(), ...words], { write: () => undefined })
    const { config, notes } = settle(given ?? {}, {})
    expect(config.logLevel).toBe(level)
    expect(notes).toContain(`Words that are no option end the options: ${ignored} has no effect.`)
  })
})
