import { type Static, Type } from '@sinclair/typebox'
import { operatorRoles } from '../../../config/operators.ts'
import { oneOf, orNull, strict, text, word, words } from '../endpoint.ts'

const role = oneOf(['reader', 'operator'] as const, 'operator: may change something')
const rights = oneOf(operatorRoles, 'What the client may do')

export const logIn = strict({
  name: Type.Optional(text('A person of the configuration; absent: a password without a name', 64)),
  password: Type.String({ minLength: 1, maxLength: 1024 }),
})

export const session = strict({
  role: orNull(role, 'Null: nothing may be read; operator: may change something'),
  rights: orNull(rights, 'Null: nothing may be read'),
  by: oneOf(['password', 'session', 'address', 'proxy'] as const, 'How the role was proved'),
  name: orNull(Type.String(), 'Null: without a name'),
  queues: orNull(words(), 'Globs of the functions and queues of this person; null: all'),
  has_operator: Type.Boolean({ description: 'Somebody may make changes' }),
  has_people: Type.Boolean({ description: 'People log in with a name' }),
})

export const loggedIn = strict({
  role,
  rights,
  token: word('Also set as a cookie; counts as a Bearer token'),
  expires_in_seconds: Type.Integer(),
})

export const reloaded = strict({
  changed: words('Settings that have changed'),
  restart_needed: words('Settings that have changed but need a restart'),
})

/** The result of a reload, with names of settings as an operator writes them. */
export type ReloadReport = Static<typeof reloaded>

/**
 * Reads the settings again. `by`: who asks, for the log.
 *
 * @throws StartError for settings that cannot be used: nothing is changed.
 */
export type Reload = (by: string) => Promise<ReloadReport>
