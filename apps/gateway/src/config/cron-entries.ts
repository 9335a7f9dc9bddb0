import { StartError } from '../errors.ts'
import { type CronEntry, CronEntryError, readCronEntry } from '../ops/cron/cron-entry.ts'

/** Reads the tables `[[cron]]` of the file: `schedule`, `[cron.job]`, and perhaps `name`, `timezone`. */
export function readCronEntries(entries: unknown, file: string): readonly CronEntry[] {
  if (entries === undefined) return []
  if (!Array.isArray(entries)) {
    throw new StartError(`cron in ${file} is no list: write [[cron]].`, 2)
  }
  const byName = new Map<string, CronEntry>()
  for (const [at, value] of entries.entries()) {
    const entry = read(value, `cron entry ${at + 1} in ${file}`)
    if (byName.has(entry.name)) {
      throw new StartError(`Two cron entries in ${file} are ${entry.name}: give each a name.`, 2)
    }
    byName.set(entry.name, entry)
  }
  return [...byName.values()]
}

function read(value: unknown, place: string): CronEntry {
  try {
    return readCronEntry(value)
  } catch (error) {
    if (!(error instanceof CronEntryError)) throw error
    throw new StartError(`${place}: ${error.message}.`, 2, { cause: error })
  }
}
