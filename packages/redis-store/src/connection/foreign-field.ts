/** A field of a job's hash with a value that the broker does not write: it counts as absent. */
export interface ForeignField {
  readonly lane: string
  readonly id: number
  readonly field: string
}

/** Called with each field of a job that another program wrote. */
export type OnForeignField = (field: ForeignField) => void
