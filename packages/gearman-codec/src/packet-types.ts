/** Direction: `REQ` goes to the server, `RES` comes from it. */
export type Magic = 'REQ' | 'RES'

/** One packet type of the protocol. */
export interface PacketType {
  /** Number on the wire, 1 to 42. */
  readonly code: number
  readonly name: string
  /** Directions of the packet; none for the unused number. */
  readonly magics: readonly Magic[]
  /** Names of the arguments in wire order; a NUL separates them. */
  readonly args: readonly string[]
  /** True if the last argument is opaque: it takes the rest of the packet, NUL bytes included. */
  readonly blob: boolean
}

/**
 * All packet types, by code. Argument counts, `PacketName` and the look-up tables of decoder and
 * encoder derive from it. Code 5 is unused, but a server must be able to refuse it by name.
 */
export const packetTypes = [
  { code: 1, name: 'CAN_DO', magics: ['REQ'], args: ['function'], blob: false },
  { code: 2, name: 'CANT_DO', magics: ['REQ'], args: ['function'], blob: false },
  { code: 3, name: 'RESET_ABILITIES', magics: ['REQ'], args: [], blob: false },
  { code: 4, name: 'PRE_SLEEP', magics: ['REQ'], args: [], blob: false },
  { code: 5, name: 'UNUSED', magics: [], args: [], blob: false },
  { code: 6, name: 'NOOP', magics: ['RES'], args: [], blob: false },
  {
    code: 7,
    name: 'SUBMIT_JOB',
    magics: ['REQ'],
    args: ['function', 'unique', 'data'],
    blob: true,
  },
  { code: 8, name: 'JOB_CREATED', magics: ['RES'], args: ['handle'], blob: false },
  { code: 9, name: 'GRAB_JOB', magics: ['REQ'], args: [], blob: false },
  { code: 10, name: 'NO_JOB', magics: ['RES'], args: [], blob: false },
  {
    code: 11,
    name: 'JOB_ASSIGN',
    magics: ['RES'],
    args: ['handle', 'function', 'data'],
    blob: true,
  },
  {
    code: 12,
    name: 'WORK_STATUS',
    magics: ['REQ', 'RES'],
    args: ['handle', 'numerator', 'denominator'],
    blob: false,
  },
  { code: 13, name: 'WORK_COMPLETE', magics: ['REQ', 'RES'], args: ['handle', 'data'], blob: true },
  { code: 14, name: 'WORK_FAIL', magics: ['REQ', 'RES'], args: ['handle'], blob: false },
  { code: 15, name: 'GET_STATUS', magics: ['REQ'], args: ['handle'], blob: false },
  { code: 16, name: 'ECHO_REQ', magics: ['REQ'], args: ['data'], blob: true },
  { code: 17, name: 'ECHO_RES', magics: ['RES'], args: ['data'], blob: true },
  {
    code: 18,
    name: 'SUBMIT_JOB_BG',
    magics: ['REQ'],
    args: ['function', 'unique', 'data'],
    blob: true,
  },
  { code: 19, name: 'ERROR', magics: ['RES'], args: ['code', 'text'], blob: false },
  {
    code: 20,
    name: 'STATUS_RES',
    magics: ['RES'],
    args: ['handle', 'known', 'running', 'numerator', 'denominator'],
    blob: false,
  },
  {
    code: 21,
    name: 'SUBMIT_JOB_HIGH',
    magics: ['REQ'],
    args: ['function', 'unique', 'data'],
    blob: true,
  },
  { code: 22, name: 'SET_CLIENT_ID', magics: ['REQ'], args: ['id'], blob: false },
  {
    code: 23,
    name: 'CAN_DO_TIMEOUT',
    magics: ['REQ'],
    args: ['function', 'timeoutMs'],
    blob: false,
  },
  { code: 24, name: 'ALL_YOURS', magics: ['REQ'], args: [], blob: false },
  {
    code: 25,
    name: 'WORK_EXCEPTION',
    magics: ['REQ', 'RES'],
    args: ['handle', 'data'],
    blob: true,
  },
  { code: 26, name: 'OPTION_REQ', magics: ['REQ'], args: ['option'], blob: false },
  { code: 27, name: 'OPTION_RES', magics: ['RES'], args: ['option'], blob: false },
  { code: 28, name: 'WORK_DATA', magics: ['REQ', 'RES'], args: ['handle', 'data'], blob: true },
  { code: 29, name: 'WORK_WARNING', magics: ['REQ', 'RES'], args: ['handle', 'data'], blob: true },
  { code: 30, name: 'GRAB_JOB_UNIQ', magics: ['REQ'], args: [], blob: false },
  {
    code: 31,
    name: 'JOB_ASSIGN_UNIQ',
    magics: ['RES'],
    args: ['handle', 'function', 'unique', 'data'],
    blob: true,
  },
  {
    code: 32,
    name: 'SUBMIT_JOB_HIGH_BG',
    magics: ['REQ'],
    args: ['function', 'unique', 'data'],
    blob: true,
  },
  {
    code: 33,
    name: 'SUBMIT_JOB_LOW',
    magics: ['REQ'],
    args: ['function', 'unique', 'data'],
    blob: true,
  },
  {
    code: 34,
    name: 'SUBMIT_JOB_LOW_BG',
    magics: ['REQ'],
    args: ['function', 'unique', 'data'],
    blob: true,
  },
  {
    code: 35,
    name: 'SUBMIT_JOB_SCHED',
    magics: ['REQ'],
    args: ['function', 'unique', 'minute', 'hour', 'dayOfMonth', 'month', 'dayOfWeek', 'data'],
    blob: true,
  },
  {
    code: 36,
    name: 'SUBMIT_JOB_EPOCH',
    magics: ['REQ'],
    args: ['function', 'unique', 'epochSeconds', 'data'],
    blob: true,
  },
  {
    code: 37,
    name: 'SUBMIT_REDUCE_JOB',
    magics: ['REQ'],
    args: ['function', 'unique', 'reducer', 'unused', 'data'],
    blob: true,
  },
  {
    code: 38,
    name: 'SUBMIT_REDUCE_JOB_BACKGROUND',
    magics: ['REQ'],
    args: ['function', 'unique', 'reducer', 'unused', 'data'],
    blob: true,
  },
  { code: 39, name: 'GRAB_JOB_ALL', magics: ['REQ'], args: [], blob: false },
  {
    code: 40,
    name: 'JOB_ASSIGN_ALL',
    magics: ['RES'],
    args: ['handle', 'function', 'unique', 'reducer', 'data'],
    blob: true,
  },
  { code: 41, name: 'GET_STATUS_UNIQUE', magics: ['REQ'], args: ['unique'], blob: false },
  {
    code: 42,
    name: 'STATUS_RES_UNIQUE',
    magics: ['RES'],
    args: ['unique', 'known', 'running', 'numerator', 'denominator', 'waiters'],
    blob: false,
  },
] as const satisfies readonly PacketType[]

type Row = (typeof packetTypes)[number]

/** Name of a packet type, such as `SUBMIT_JOB_BG`. */
export type PacketName = Row['name']

/** Name of a packet that a server may receive. */
export type RequestName = Extract<Row, { magics: readonly ['REQ', ...Magic[]] }>['name']

/** Name of a packet that a server may send. */
export type ResponseName = Extract<Row, { magics: readonly [...Magic[], 'RES'] }>['name']

/** A row of {@link packetTypes}, seen by decoder and encoder. */
export interface KnownPacketType extends PacketType {
  readonly name: PacketName
}

/** Highest packet type number. */
export const maxPacketCode: number = packetTypes.length

/** Packet types at the index of their code; index 0 is empty. */
export const typesByCode: readonly (KnownPacketType | undefined)[] = [undefined, ...packetTypes]

const typesByName = new Map<string, KnownPacketType>(packetTypes.map((type) => [type.name, type]))

/** The row of one packet type. */
export function packetType(name: PacketName): KnownPacketType {
  const type = typesByName.get(name)
  if (type === undefined) throw new TypeError(`no packet type ${name}`)
  return type
}
