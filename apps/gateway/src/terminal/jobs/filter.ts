import { type JobFilter, jobFilter } from '../../api/schemas/jobs.ts'
import { type Given, isGiven, valuesOf } from '../command-row.ts'
import { type OptionRow, optionsOf } from '../option-rows.ts'

/** The options that say which jobs: those of the API's filter. */
export const filterOptions: readonly OptionRow[] = optionsOf(jobFilter)

/** Takes all jobs, for commands that ask for a filter. */
export const allOption: OptionRow = { name: 'all', help: 'all jobs, without any filter' }

/** The filter that is given; undefined where none is, nor `--all`. */
export function givenFilter(given: Given): JobFilter | undefined {
  const filter = valuesOf(given, filterOptions) as JobFilter
  return Object.keys(filter).length > 0 || isGiven(given, 'all') ? filter : undefined
}
