import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { FaultTable, PlantedFault } from './planted-fault.ts'

/** Cases of the store contract stand here, and run in test files of several packages. */
const contractFolder = 'packages/redis-store/test/contract'

/** The rows of all files in `faults`. */
export async function readTable(): Promise<readonly PlantedFault[]> {
  const folder = new URL('faults/', import.meta.url)
  const files = readdirSync(folder).filter((name) => name.endsWith('.ts'))
  const modules = await Promise.all(
    files
      .toSorted()
      .map((name) => import(new URL(name, folder).href) as Promise<{ faults: FaultTable }>),
  )
  return modules.flatMap(({ faults }) =>
    Object.entries(faults).map(([name, fault]) => ({ name, ...fault })),
  )
}

/** Tells why a row does not fit the sources below `root`; nothing if it does. */
export function misfitOf(fault: PlantedFault, root: string): string | undefined {
  const { file, from, to, test, testName } = fault
  if (!existsSync(join(root, file))) return `there is no ${file}`
  const times = readFileSync(join(root, file), 'utf8').split(from).length - 1
  if (times !== 1) return `its text stands ${times} times in ${file}`
  if (from === to) return 'it changes nothing'
  if (!existsSync(join(root, test))) return `there is no ${test}`
  if (testName !== undefined && !sourcesOf(test, root).some((text) => text.includes(testName)))
    return `no test in ${test} is named "${testName}"`
  return undefined
}

/** Names that more than one row has. */
export function repeatedNames(faults: readonly PlantedFault[]): readonly string[] {
  const names = faults.map(({ name }) => name)
  return [...new Set(names.filter((name, at) => names.indexOf(name) < at))]
}

/** The texts in which the names of a file's tests can stand. */
function sourcesOf(test: string, root: string): readonly string[] {
  const own = readFileSync(join(root, test), 'utf8')
  const contract = join(root, contractFolder)
  if (!own.includes('storeContract') || !existsSync(contract)) return [own]
  const cases = readdirSync(contract, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts'))
    .map((name) => readFileSync(join(contract, name), 'utf8'))
  return [own, ...cases]
}
