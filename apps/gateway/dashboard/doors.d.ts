/** The doors by which a job may have come; the gateway makes this module from its table of doors. */
export const doors: readonly {
  readonly name: string
  /** For people. */
  readonly title: string
  /** How waiting clients see that a job failed. */
  readonly failure: string
}[]
