/** The fixed replies of the administrative protocol, line ends included. */
export const adminReplies = {
  ok: 'OK\r\n',
  unknownJob: 'ERR UNKNOWN_JOB\r\n',
  functionNotFound: 'ERR function not found\r\n',
  functionInUse: 'ERR there are still connected workers or executing clients\r\n',
  unknownShowArguments: 'ERR UNKNOWN_SHOW_ARGUMENTS\r\n',
  unknownError: 'ERR UNKNOWN_ERROR\r\n',
} as const

/** Reply to an unknown command; `command` as typed. */
export function formatUnknownCommand(command: string): string {
  return `ERR UNKNOWN_COMMAND Unknown+server+command${command}\r\n`
}

/** Reply to a command that lacks arguments; `command` as typed. */
export function formatInvalidArguments(command: string): string {
  return `ERR INVALID_ARGUMENTS An+incomplete+set+of+arguments+was+sent+to+this+command+${command}\r\n`
}

/** Reply to `version`. */
export function formatVersion(version: string): string {
  return `OK ${version}\n`
}

/** Reply to `verbose`: a level such as `ERROR`. */
export function formatVerbose(level: string): string {
  return `OK ${level}\n`
}

/** Reply to `getpid`. */
export function formatPid(pid: number): string {
  return `OK ${pid}\n`
}

/** One function in the reply to `status`. */
export interface StatusRow {
  readonly function: string
  /** Jobs queued and running. */
  readonly total: number
  readonly running: number
  /** Connected workers that can do the function. */
  readonly workers: number
}

/** Reply to `status`. */
export function formatStatus(rows: Iterable<StatusRow>): string {
  return list(
    rows,
    (row) => `${word(row.function)}\t${row.total}\t${row.running}\t${row.workers}\n`,
  )
}

/** One function in the reply to `prioritystatus`. */
export interface PriorityStatusRow {
  readonly function: string
  /** Jobs queued, not running, at each priority. */
  readonly high: number
  readonly normal: number
  readonly low: number
  /** Connected workers that can do the function. */
  readonly workers: number
}

/** Reply to `prioritystatus`. */
export function formatPriorityStatus(rows: Iterable<PriorityStatusRow>): string {
  return list(
    rows,
    (row) => `${word(row.function)}\t${row.high}\t${row.normal}\t${row.low}\t${row.workers}\n`,
  )
}

/** One connection in the reply to `workers`: worker, client or administrator. */
export interface WorkerRow {
  /** File descriptor, or any number that tells connections apart. */
  readonly fd: number
  readonly address: string
  /** Name from SET_CLIENT_ID; an empty one is shown as `-`. */
  readonly id: string
  readonly functions: readonly string[]
}

/** Reply to `workers`. */
export function formatWorkers(rows: Iterable<WorkerRow>): string {
  return list(rows, (row) => {
    const functions = row.functions.map((name) => ` ${word(name)}`).join('')
    return `${row.fd} ${row.address} ${word(row.id) || '-'} :${functions}\n`
  })
}

/** One job in the reply to `show jobs`. */
export interface JobRow {
  readonly handle: string
  /** Workers lost with the job. */
  readonly retries: number
  /** The job will not run: all its clients have left. */
  readonly ignored: boolean
  /** The job waits for a worker. */
  readonly queued: boolean
}

/** Reply to `show jobs`. */
export function formatShowJobs(rows: Iterable<JobRow>): string {
  return list(
    rows,
    (row) => `${word(row.handle)}\t${row.retries}\t${Number(row.ignored)}\t${Number(row.queued)}\n`,
  )
}

/** Reply to `show unique jobs`: the unique id of each job that has one. */
export function formatShowUniqueJobs(uniques: Iterable<string>): string {
  return list(uniques, (unique) => `${word(unique)}\n`)
}

/** Limits of `maxqueue` by priority; 0 is no limit. */
export interface MaxQueueSizes {
  readonly high: number
  readonly normal: number
  readonly low: number
}

/** One function in the reply to `show maxqueue`; 0 is no limit. */
export interface MaxQueueRow extends MaxQueueSizes {
  readonly function: string
  /** Jobs that may wait, by a route. */
  readonly waiting: number
  /** Jobs are refused while no worker is there. */
  readonly needsWorker: boolean
}

/** Reply to `show maxqueue`, which gearmand does not know. */
export function formatShowMaxQueue(rows: Iterable<MaxQueueRow>): string {
  return list(
    rows,
    ({ high, normal, low, waiting, ...row }) =>
      `${word(row.function)}\t${high}\t${normal}\t${low}\t${waiting}\t${Number(row.needsWorker)}\n`,
  )
}

function list<Row>(rows: Iterable<Row>, format: (row: Row) => string): string {
  let text = ''
  for (const row of rows) text += format(row)
  return `${text}.\n`
}

/** A peer's name must not end a column or a line. */
function word(name: string): string {
  return name.replace(/\p{Cc}/gu, '?')
}
