import {
  type Operator,
  type OperatorRole,
  readOperators,
} from '../../../../src/config/operators.ts'
import { hashPassword } from '../../../../src/config/password-hash.ts'
import { elsewhere } from './api-gateway.ts'

/** People with their passwords. */
export const passwords = {
  alice: 'alice looks only',
  bob: 'bob works hard',
  carol: 'carol rules all',
}
export type Name = keyof typeof passwords

/** The least that the configuration takes: each gateway of a test takes a 48th of the time for its first login. */
const leastCost = { logN: 14, r: 1, p: 1 }

export const hashes = Object.fromEntries(
  await Promise.all(
    Object.entries(passwords).map(async ([name, word]) => [
      name,
      await hashPassword(word, leastCost),
    ]),
  ),
) as Record<Name, string>

/** The people of a configuration file. */
export function people(
  roles: Partial<Record<Name, OperatorRole>>,
  more: Partial<Record<Name, object>> = {},
): ReadonlyMap<string, Operator> {
  const tables = Object.entries(roles).map(([name, role]) => [
    name,
    { password_hash: hashes[name as Name], role, ...more[name as Name] },
  ])
  return readOperators(Object.fromEntries(tables), 'crossgear.toml')
}

export const basic = (name: string, password: string) => ({
  ...elsewhere,
  Authorization: `Basic ${Buffer.from(`${name}:${password}`).toString('base64')}`,
})

export const as = (name: Name) => basic(name, passwords[name])
