import type { OperatorRole } from '../../config/operators.ts'

/** A reader sees everything and changes nothing; an operator works on jobs, an admin may do everything. */
export type Role = 'reader' | 'operator' | 'admin'

/** Roles of the passwords of the web port without a name. */
export type PasswordRole = 'reader' | 'operator'

/** Roles, each of which may do what those before it may. */
export const roleRanks: Readonly<Record<Role, number>> = { reader: 0, operator: 1, admin: 2 }

/** A password without a name may look, or do everything. */
export const roleOfPassword = { reader: 'reader', operator: 'admin' } as const

/** Roles by their words in the configuration. */
export const roleOf = {
  view: 'reader',
  operate: 'operator',
  admin: 'admin',
} as const satisfies Readonly<Record<OperatorRole, Role>>

/** Words of the configuration. */
export const rightsOf: Readonly<Record<Role, OperatorRole>> = {
  reader: 'view',
  operator: 'operate',
  admin: 'admin',
}
