import { Command, CommanderError } from 'commander'
import type { ConfigSources } from '../config/load-config.ts'
import { StartError } from '../errors.ts'

interface Output {
  write(text: string): unknown
}

/** The checked command line. */
export interface DoctorArguments {
  readonly flags: ConfigSources['flags']
  readonly isJson: boolean
  readonly isFull: boolean
}

const helpAfter = `
Nothing in the store is changed. Each line is ok, warning or fault, and says what to do.

Exit codes: 0 no faults, 1 usage, 2 the store cannot be reached, 3 faults.
`

/** The parser of `crossgear doctor`. */
export function doctorProgram(out: Output): Command {
  return new Command('crossgear doctor')
    .description(
      'Examines a store: its server, its settings, and if each job stands where it should.',
    )
    .option('--redis-url <url>', 'the store (default: the private one of a gateway that runs)')
    .option('--data-dir <path>', "the gateway's, where there is no --redis-url")
    .option(
      '--config <file>',
      "the gateway's file: its store, and which queue is home by its routes",
    )
    .option('--full', 'look at every job, however many there are')
    .option('--json', 'one line of JSON for a program')
    .addHelpText('after', helpAfter)
    .allowExcessArguments(false)
    .exitOverride()
    .configureOutput({
      outputError: () => undefined,
      writeOut: (text) => void out.write(text),
      writeErr: () => undefined,
    })
}

/** Undefined if only help was asked for. Throws a StartError. */
export function readDoctorArguments(
  words: readonly string[],
  out: Output,
): DoctorArguments | undefined {
  const program = doctorProgram(out)
  try {
    program.parse(words, { from: 'user' })
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error
    if (error.exitCode === 0) return undefined
    const message = error.message.replace(/^error: /, '').replaceAll(/\s*\n\s*/g, ' ')
    const capital = `${message.charAt(0).toUpperCase()}${message.slice(1)}`
    throw new StartError(`${capital}: see crossgear doctor --help.`, 2, { cause: error })
  }
  const { json, full, ...flags } = program.opts<Record<string, string | true>>()
  return {
    flags,
    isJson: json === true,
    isFull: full === true,
  }
}
