import { type Static, Type } from '@sinclair/typebox'
import { oneOf, orNull, strict, word, words } from '../endpoint.ts'

export const logIn = strict({ password: Type.String({ minLength: 1, maxLength: 1024 }) })

export const session = strict({
  role: orNull(oneOf(['reader', 'operator'] as const), 'Null: nothing may be read'),
  by: oneOf(['password', 'session', 'address'] as const, 'How the role was proved'),
  has_operator: Type.Boolean({ description: 'There is a password for changes' }),
})

export const loggedIn = strict({
  role: oneOf(['reader', 'operator'] as const),
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
