import { readFileSync } from 'node:fs'
import { newJob, replacement, resubmission } from '../../../web/api/schemas/acts.ts'
import { endpoints } from '../../../web/api/endpoints.ts'
import { oneLine } from '../../../errors.ts'
import type { Answer, Asked } from '../api-client.ts'
import { orderOf } from '../call-command.ts'
import type { OptionRow } from '../../../config/option-row.ts'
import { type CommandContext, type CommandRow, say, textOf, valuesOf } from '../command-row.ts'
import { optionsOf } from '../option-rows.ts'
import { TerminalError } from '../terminal-error.ts'
import { jobArgument, jobNamed } from './named.ts'

type NewJob = NonNullable<Asked<'submitJob'>['body']>
type Payload = NewJob['payload']

/** Operations that make a job out of another one. */
type Again = 'resubmitJob' | 'replaceJob'

const termOptions = optionsOf(newJob, ['function', 'payload'])

/** Bytes that fit into a body of the API in base 64, with room for the other fields. */
const longestPayloadBytes = 700_000
const standardInput = '-'

const payloadFile: OptionRow = {
  name: 'payload_file',
  argument: 'file',
  help: `a file whose bytes are the payload, or ${standardInput} for the standard input; at most ${longestPayloadBytes} bytes`,
}

const payloadArgument = { name: 'payload', help: 'a text, as its worker gets it' }

export const submissions: readonly CommandRow[] = [
  {
    words: ['jobs', 'submit'],
    summary: orderOf(endpoints.submitJob.summary),
    arguments: [{ name: 'function', help: 'its function', isRequired: true }, payloadArgument],
    options: [...termOptions, payloadFile],
    run: async (context) => {
      const { client, given } = context
      const [name = '', text] = given.names
      const payload = payloadOf(context, text)
      const terms = { function: name, ...valuesOf(given, termOptions) } as NewJob
      const body = { ...terms, ...(payload && { payload }) }
      return sayJob(await client.call('submitJob', { body }), context)
    },
  },
  again(
    'resubmit',
    'submit a job again as a new one, unchanged or changed; the old one stays',
    'resubmitJob',
    resubmission,
  ),
  again(
    'replace',
    'put a changed job into the place of one that does not run, in one step',
    'replaceJob',
    replacement,
  ),
]

/** A command that makes a job out of another one, with the changes that its options and its payload are. */
function again(
  word: string,
  summary: string,
  operation: Again,
  body: typeof resubmission | typeof replacement,
): CommandRow {
  const options = optionsOf(body, ['payload'])
  return {
    words: ['jobs', word],
    summary,
    arguments: [jobArgument, { ...payloadArgument, help: 'another payload' }],
    options: [...options, payloadFile],
    run: async (context) => {
      const { client, given } = context
      const [name = '', text] = given.names
      const payload = payloadOf(context, text)
      const terms = valuesOf(given, options) as NonNullable<Asked<Again>['body']>
      const changes = { ...terms, ...(payload && { payload }) }
      const { id: job } = await jobNamed(client, name)
      return sayJob(await client.call(operation, { params: { job }, body: changes }), context)
    },
  }
}

function payloadOf({ given }: CommandContext, text: string | undefined): Payload {
  const file = textOf(given, payloadFile.name)
  if (file === undefined) return text === undefined ? undefined : { text }
  if (text !== undefined) {
    throw new TerminalError('usage', 'Give the payload as a word or as --payload-file, not both.')
  }
  const bytes = bytesOf(file)
  if (bytes.length <= longestPayloadBytes) return { base64: bytes.toString('base64') }
  const what = `The payload has ${bytes.length} bytes: ${longestPayloadBytes} at most`
  throw new TerminalError('usage', `${what}; submit it by the Gearman or the Faktory port.`)
}

function bytesOf(file: string): Buffer {
  try {
    return readFileSync(file === standardInput ? 0 : file)
  } catch (error) {
    const message = `The payload ${file} cannot be read: ${oneLine(error)}.`
    throw new TerminalError('usage', message, { cause: error })
  }
}

function sayJob(answer: Answer<'submitJob'>, context: CommandContext): 'done' {
  return say(context, answer, () => [
    answer.result === 'joined'
      ? `Joined job ${answer.job} (${answer.handle}), which has its unique id.`
      : `Submitted job ${answer.job} (${answer.handle}).`,
  ])
}
