import { StartError } from '../errors.ts'
import { readPasswordHash, type PasswordHash } from './password-hash.ts'
import { readSection } from './table-fields.ts'
import type { TableField } from './value-kinds.ts'

/** Roles of people, from less to more. */
export const operatorRoles = ['view', 'operate', 'admin'] as const
export type OperatorRole = (typeof operatorRoles)[number]

/** A person who may log in at the web port. */
export interface Operator {
  readonly role: OperatorRole
  readonly password: PasswordHash
  /** Globs of functions and queues; absent: all. */
  readonly queues?: readonly string[]
}

const maxOperators = 1_000
const maxGlobs = 100
const maxGlobLetters = 255

/** The name of a person, as a header may have it, too. */
export function isOperatorName(name: string): boolean {
  return /^[\w.@+-]{1,64}$/.test(name)
}

export function readRole(word: unknown): OperatorRole | undefined {
  return operatorRoles.find((role) => role === word)
}

function isGlob(value: unknown): boolean {
  return typeof value === 'string' && value !== '' && value.length <= maxGlobLetters
}

const fields = {
  password_hash: {
    expected: 'what crossgear password prints',
    accepts: (value) => typeof value === 'string' && readPasswordHash(value) !== undefined,
    isSecret: true,
  },
  role: {
    expected: operatorRoles.join(', '),
    accepts: (value) => readRole(value) !== undefined,
  },
  queues: {
    expected: `a list of 1 to ${maxGlobs} names or globs such as "mail*", each of 1 to ${maxGlobLetters} letters`,
    accepts: (value) =>
      Array.isArray(value) && value.length > 0 && value.length <= maxGlobs && value.every(isGlob),
  },
} as const satisfies Readonly<Record<string, TableField>>

/**
 * Reads the tables `[operators.<name>]` of the file: `password_hash`, `role`, and perhaps `queues`.
 *
 * @throws StartError (code 2)
 */
export function readOperators(given: unknown, file: string): ReadonlyMap<string, Operator> {
  const rows = readSection(given, { name: 'operators', of: 'name', fields, nameFault }, file)
  if (rows.length > maxOperators) {
    throw new StartError(`operators in ${file} has over ${maxOperators} tables: remove some.`, 2)
  }
  return new Map(
    rows.map(([name, table]) => {
      for (const key of ['password_hash', 'role'] as const) {
        if (table[key] !== undefined) continue
        const remedy = `give ${fields[key].expected}`
        throw new StartError(`operators.${name}.${key} in ${file} is missing: ${remedy}.`, 2)
      }
      return [name, operatorOf(table)]
    }),
  )
}

function nameFault(name: string): string | undefined {
  return isOperatorName(name)
    ? undefined
    : 'is no name: give 1 to 64 letters, digits, dots, at signs, plus signs, underscores or hyphens'
}

function operatorOf(table: Readonly<Record<string, unknown>>): Operator {
  const password = readPasswordHash(String(table['password_hash']))
  const role = readRole(table['role'])
  if (!password || !role) throw new TypeError('the table was not checked')
  const queues = table['queues'] as readonly string[] | undefined
  return Object.freeze({ role, password, ...(queues && { queues }) })
}
