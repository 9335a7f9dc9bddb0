// `npm run planted`: see options.ts for its options.
import { fileURLToPath } from 'node:url'
import { parseWords, usage } from './options.ts'
import type { PlantedFault } from './planted-fault.ts'
import { CheckoutCopy } from './run/checkout-copy.ts'
import { tryFaults } from './run/try-faults.ts'
import { readTable } from './table.ts'

const checkout = fileURLToPath(new URL('../../', import.meta.url))
const stoppedCode = 130

async function main(words: readonly string[]): Promise<number> {
  const faults = await readTable()
  const choice = parseWords(words, faults)
  if ('problem' in choice) {
    console.error(choice.problem)
    return 2
  }
  if (choice.show === 'help') console.log(usage)
  else if (choice.show === 'list') {
    const nameWidth = widthOf(faults.map(({ name }) => name))
    for (const { name, promise } of faults) console.log(`${name.padEnd(nameWidth)}  ${promise}`)
  } else return await play(choice.chosen)
  return 0
}

async function play(chosen: readonly PlantedFault[]): Promise<number> {
  const stopping = new AbortController()
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => stopping.abort())
  let copy: CheckoutCopy | undefined
  let tried = 0
  let found = 0
  const sums = (): string => `${tried} of ${chosen.length} faults planted, ${found} found.`
  try {
    const line = lineFormat(chosen)
    console.log(line('fault', 'promise', 'test', 'result', 'seconds'))
    copy = await CheckoutCopy.of(checkout, stopping.signal)
    for await (const { fault, verdict, seconds } of tryFaults(copy, chosen, stopping.signal)) {
      tried += 1
      if (verdict.isFound) found += 1
      const result = verdict.isFound ? 'found' : 'NOT FOUND'
      console.log(line(fault.name, fault.promise, fault.test, result, seconds.toFixed(1)))
      if (!verdict.isFound) console.log(`  ${verdict.reason}`)
    }
  } catch (error) {
    if (!stopping.signal.aborted) throw error
    console.log(`Stopped: ${sums()}`)
    return stoppedCode
  } finally {
    copy?.remove()
  }
  console.log(sums())
  return found === chosen.length ? 0 : 1
}

type LineFormat = (...cells: readonly [string, string, string, string, string]) => string

/** Lines of a table that is printed row by row, as results come. */
function lineFormat(faults: readonly PlantedFault[]): LineFormat {
  const nameWidth = widthOf(faults.map(({ name }) => name))
  const promiseWidth = widthOf(faults.map(({ promise }) => promise))
  const testWidth = widthOf(faults.map(({ test }) => test))
  return (name, promise, test, result, seconds) =>
    [
      name.padEnd(nameWidth),
      promise.padEnd(promiseWidth),
      test.padEnd(testWidth),
      result.padEnd('NOT FOUND'.length),
      seconds.padStart('seconds'.length),
    ].join('  ')
}

function widthOf(texts: readonly string[]): number {
  return Math.max(...texts.map((text) => text.length))
}

process.exitCode = await main(process.argv.slice(2))
