import type { Session } from '../session.ts'

/**
 * What a verb does: read the argument, call the scheduler, answer. Throws an FwpError where the
 * argument is wrong; its text is then the answer.
 */
export type Handler = (session: Session, argument: Buffer) => void
