/** A one-line change to the code that breaks a promise, and the test that must notice it. */
export interface PlantedFault {
  /** Kebab-case, unique over all files of `faults`. */
  readonly name: string
  /** The broken promise, a short sentence. */
  readonly promise: string
  /** Path of the changed file from the top of the repository. */
  readonly file: string
  /** Text that stands in the file exactly once. */
  readonly from: string
  /** Text that takes its place. */
  readonly to: string
  /** Path of the test file that fails with the fault. */
  readonly test: string
  /** The test's name as in its source, or a part without parameters, if the file has others that take long. */
  readonly testName?: string
}

/** Planted faults by their names. */
export type FaultTable = Readonly<Record<string, Omit<PlantedFault, 'name'>>>
