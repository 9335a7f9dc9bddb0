import { apiErrors, type ApiErrorCode } from '../../web/api/api-error.ts'

/** Exit codes of the commands that ask a running gateway. docs/operate/operating.md has them for users. */
export const exitCodes = {
  done: 0,
  /** The command line is wrong. */
  usage: 1,
  /** No gateway answers at the address. */
  unreachable: 2,
  /** The password is missing or wrong, or does not suffice. */
  refused: 3,
  /** There is no such thing, or nothing matched. */
  notFound: 4,
  /** The gateway could not do it: its store is away, it is busy, or the thing is in use. */
  failed: 5,
  /** The question was not answered with yes. */
  notConfirmed: 6,
  /** Of `health` alone: a container's health check knows no other code. */
  unhealthy: 1,
} as const

export type ExitName = keyof typeof exitCodes
export type ExitCode = (typeof exitCodes)[ExitName]

/** An error that the user can act on: its message is one line. */
export class TerminalError extends Error {
  override readonly name = 'TerminalError'
  readonly exit: ExitName

  constructor(exit: ExitName, message: string, options?: ErrorOptions) {
    super(message, options)
    this.exit = exit
  }
}

const exitOfStatus: Readonly<Record<number, ExitName>> = {
  400: 'usage',
  401: 'refused',
  403: 'refused',
  404: 'notFound',
  413: 'usage',
  415: 'usage',
  421: 'refused',
  422: 'usage',
}

const givePassword = 'give it with --web-password or CROSSGEAR_WEB_PASSWORD'

/** The next step of the user, where the refusal itself does not say it. */
const advice: Readonly<Partial<Record<ApiErrorCode, string>>> = {
  unauthorized: `The gateway needs a password: ${givePassword}.`,
  wrong_password: `The password is wrong: ${givePassword}, that of a person with --user.`,
  password_unset: 'The gateway has no password: leave yours out.',
  no_password:
    'The gateway takes no changes: start it with --web-password, and give the same password here. Functions can be opened and closed at the store, too: with --data-dir or --redis-url.',
  operator_needed: `This takes the operator's password, or a person with the role operate: ${givePassword}.`,
  admin_needed: `This takes a person with the role admin, or the operator's password: ${givePassword}.`,
  foreign_host: 'The gateway does not know itself by this name: allow it with --allowed-hosts.',
}

/** A refusal of the API as an error of the command. */
export function refusalOf(status: number, code: string, message: string): TerminalError {
  const known = code in apiErrors ? advice[code as ApiErrorCode] : undefined
  const exit = code === 'too_many_tries' ? 'refused' : (exitOfStatus[status] ?? 'failed')
  return new TerminalError(exit, known ?? `The gateway refuses: ${message} (${code}).`)
}
