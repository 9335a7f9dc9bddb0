import type { TObject, TSchema } from '@sinclair/typebox'
import type { ArgumentRow } from '../../config/option-row.ts'
import { type Endpoint, nothing } from '../../web/api/endpoint.ts'
import { type Answer, type Asked, type Operation, operations } from './api-client.ts'
import {
  type CommandContext,
  type CommandRow,
  type Given,
  numberOf,
  printAll,
  say,
  valuesOf,
} from './command-row.ts'
import { limitOption } from './option-rows.ts'
import { type Found, rowsUpTo } from './pages.ts'
import { shownName } from './shown-text.ts'
import { type Column, tableLines } from './table.ts'

/** The parts of a command that an operation of the API says, where its row does not. */
type Row = Omit<CommandRow, 'run' | 'words' | 'summary'> &
  Partial<Pick<CommandRow, 'words' | 'summary'>>

/** A command that is one call of the API. Its argument and its options are parameters of the call by their names. */
export function callCommand<Name extends Operation>(
  operation: Name,
  {
    lines,
    ...row
  }: Row & {
    readonly lines: (
      answer: Answer<Name>,
      context: CommandContext,
    ) => readonly string[] | Promise<readonly string[]>
  },
): CommandRow {
  return {
    ...formOf(operation, row),
    run: async (context) => {
      const asked = askedOf(operations[operation], context.given, row.arguments?.[0])
      const answer = await context.client.call(operation, asked as Asked<Name>)
      const words = context.isJson ? [] : await lines(answer, context)
      return say(context, answer, () => words)
    },
  }
}

/** Said of a name that the gateway does not know. */
const doubt = 'No job has come to it so far: is the name right?'

/** A command that says of each of its names how it is now; the answer lists them. */
export function actCommand(
  operation: Operation,
  names: ArgumentRow,
  state: string,
  summary?: string,
): CommandRow {
  return callCommand(operation, {
    ...(summary !== undefined && { summary }),
    arguments: [names],
    lines: (answer) => {
      const { unknown = [], ...named } = answer as Readonly<Record<string, readonly string[]>>
      return Object.values(named)
        .flat()
        .map((name) => {
          return `${shownName(name)}: ${state}.${unknown.includes(name) ? ` ${doubt}` : ''}`
        })
    },
  })
}

/** Rows that a list has where no limit is given. */
export const listedRows = 50

interface List<Page, Entry> {
  readonly rows: (page: Page) => readonly Entry[]
  readonly columns: readonly Column<Entry>[]
  /** The line where there is nothing to list. */
  readonly none: (pages: readonly Page[]) => string
  /** Lines behind the table. Nothing. */
  readonly notes?: (pages: readonly Page[]) => readonly string[]
  /** The option that says how many are listed at most. All are listed. */
  readonly limit?: { readonly what: string; readonly max: number }
  /** The parameters of the call. The values of the options. */
  readonly query?: (given: Given) => Readonly<Record<string, unknown>>
  /** The rows, where one list of the API is not all of them. */
  readonly find?: (context: CommandContext) => Promise<Found<Page, Entry>> | undefined
}

/** A command that prints a table of what an operation of the API lists, page after page. */
export function listCommand<Name extends Operation, Entry>(
  operation: Name,
  {
    rows: rowsOf,
    columns,
    none,
    notes = () => [],
    limit,
    options = [],
    query = (given) => valuesOf(given, options),
    find,
    ...row
  }: Row & List<Answer<Name>, Entry>,
): CommandRow {
  const { limit: perPage } = operations[operation].query.properties as Bounds
  const pagesOf = ({ client, given }: CommandContext, max: number) =>
    rowsUpTo(
      max,
      perPage?.maximum,
      (page) => client.call(operation, { query: { ...query(given), ...page } }),
      rowsOf,
    )
  return {
    ...formOf(operation, row),
    options: limit ? [...options, limitOption(limit.what, listedRows, limit.max)] : options,
    run: async (context) => {
      const max = limit ? (numberOf(context.given, 'limit') ?? listedRows) : Infinity
      const { rows, pages, hasMore } = await (find?.(context) ?? pagesOf(context, max))
      if (rows.length > 0) printAll(context, rows, () => tableLines(columns, rows, context.columns))
      const said = [
        ...(rows.length === 0 ? [none(pages)] : []),
        ...(hasMore ? [`There are more: --limit ${max} was reached.`] : []),
        ...notes(pages),
      ]
      if (!context.isJson) for (const line of said) context.stderr.write(`${line}\n`)
      return rows.length > 0 ? 'done' : 'notFound'
    },
  }
}

/** Bounds of the numbers in a schema, by name. */
type Bounds = Readonly<Record<string, { readonly maximum?: number } | undefined>>

/** The words of a command are those of the operation's path, with a verb where the path has none. */
function formOf<Form extends Row>(operation: Operation, row: Form) {
  const { method, path, summary }: Endpoint = operations[operation]
  const [word = '', ...words] = path.split('/').filter((part) => /^\w/.test(part))
  const verb = method === 'POST' ? [] : [path.endsWith('}') ? 'show' : 'list']
  return { words: [word, ...words, ...verb], summary: orderOf(summary), ...row } as const
}

/** The summary of an operation as an order: `Pushes the job of an entry` is `push the job of an entry`. */
export function orderOf(summary: string): string {
  const [verb = '', ...others] = summary.split(' ')
  return [verb.toLowerCase().replace(/(?<=sh)es$|s$/, ''), ...others].join(' ')
}

/** The parameters of an operation that are given as an argument or as options. */
function askedOf(
  { params, query, body }: Endpoint,
  { names, options }: Given,
  argument?: ArgumentRow,
) {
  const values: Record<string, unknown> = { ...options, [argument?.name ?? '']: names[0] }
  const given = (schema: TSchema = nothing) =>
    Object.keys((schema as TObject).properties).flatMap((name) => {
      const value = argument?.isMany ? names : values[name]
      return value === undefined ? [] : [[name, value] as const]
    })
  return {
    params: Object.fromEntries(given(params)),
    query: Object.fromEntries(given(query)),
    ...(body && { body: Object.fromEntries(given(body)) }),
  }
}
