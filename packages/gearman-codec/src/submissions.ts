import type { RequestName } from './packet-types.ts'

/** Priority of a submission. */
export type Priority = 'high' | 'normal' | 'low'

/** A packet type that submits a job. */
export interface SubmissionType {
  readonly name: RequestName
  /** False: its client waits for the result. */
  readonly isBackground: boolean
  /** Set where its arguments are function, unique id and data alone. */
  readonly priority?: Priority
}

/** Every packet type that submits a job. */
export const submissionTypes = [
  { name: 'SUBMIT_JOB_HIGH', isBackground: false, priority: 'high' },
  { name: 'SUBMIT_JOB', isBackground: false, priority: 'normal' },
  { name: 'SUBMIT_JOB_LOW', isBackground: false, priority: 'low' },
  { name: 'SUBMIT_JOB_HIGH_BG', isBackground: true, priority: 'high' },
  { name: 'SUBMIT_JOB_BG', isBackground: true, priority: 'normal' },
  { name: 'SUBMIT_JOB_LOW_BG', isBackground: true, priority: 'low' },
  { name: 'SUBMIT_JOB_EPOCH', isBackground: true },
  { name: 'SUBMIT_JOB_SCHED', isBackground: true },
  { name: 'SUBMIT_REDUCE_JOB', isBackground: false },
  { name: 'SUBMIT_REDUCE_JOB_BACKGROUND', isBackground: true },
] as const satisfies readonly SubmissionType[]

/** Submissions of function, unique id and data alone. */
export type PlainSubmission = Extract<
  (typeof submissionTypes)[number],
  { readonly priority: Priority }
>

/** The plain submissions, in the order of the table. */
export const plainSubmissions: readonly PlainSubmission[] = submissionTypes.filter(
  (type) => 'priority' in type,
)

/** The packet that submits a job of a priority. */
export function submissionName(priority: Priority, isBackground: boolean): PlainSubmission['name'] {
  const found = plainSubmissions.find(
    (type) => type.priority === priority && type.isBackground === isBackground,
  )
  if (!found) throw new RangeError(`no submission of priority ${priority}`)
  return found.name
}
