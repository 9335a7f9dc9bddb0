export { parseAck, type Ack } from './ack.ts'
export { parseBatch, type Batch } from './batch.ts'
export { parseBeat, type Beat } from './beat.ts'
export { isBid, parseCustom, parseDuration, type CustomTerms } from './custom.ts'
export { FWP_ERRORS, FwpError, type FwpErrorCode } from './errors.ts'
export { parseFail, type Fail } from './fail.ts'
export { parseFetch } from './fetch.ts'
export { formatHi, parseHello, type Hello, type PasswordChallenge } from './hello.ts'
export {
  DEFAULT_MAX_JOBS,
  isQueueName,
  parseJob,
  parseJobs,
  parseJobText,
  type FwpJob,
  type FwpPriority,
  type ParsedJob,
} from './job.ts'
export { renderJob, writeEnvelope } from './job-text.ts'
export {
  decodeString,
  MAX_JSON_DEPTH,
  MAX_JSON_FIELDS,
  scanArray,
  scanFields,
  scanObject,
  type RawField,
} from './json-scan.ts'
export { DEFAULT_MAX_LINE_BYTES, LineDecoder } from './line-decoder.ts'
export {
  parseMutate,
  type Mutate,
  type MutateFilter,
  type MutateOperation,
  type MutateTarget,
} from './mutate.ts'
export { hashPassword, isSameHash, verifyPassword } from './password.ts'
export { parseQueueCommand, type QueueCommand } from './queue-command.ts'
export { bulk, error, NULL_BULK, OK, simple } from './reply.ts'
export { formatRfc3339, parseRfc3339 } from './timestamp.ts'
export { parseTrack, type Track } from './track.ts'
export { parseCommand, type Command, type Verb } from './verbs.ts'
