export { parseAck, type Ack } from './verb-arguments.ts'
export { parseBatch, type Batch } from './job/batch.ts'
export { parseBeat, type Beat } from './verb-arguments.ts'
export {
  isBid,
  parseCustom,
  parseDuration,
  parseOnDeath,
  type CustomOptions,
} from './job/custom.ts'
export { fwpErrors, FwpError, type FwpErrorCode } from './errors.ts'
export { parseFail, type Fail } from './verb-arguments.ts'
export { parseFetch } from './verb-arguments.ts'
export { formatHi, parseHello, type Hello, type PasswordChallenge } from './hello.ts'
export {
  defaultMaxJobs,
  isQueueName,
  parseJob,
  parseJobs,
  parseListedJob,
  parseJobText,
  scanJobs,
  type FwpJob,
  type FwpPriority,
  type ParsedJob,
} from './job/job.ts'
export {
  mergedCustom,
  renderJob,
  withCustom,
  withoutAttempts,
  writeEnvelope,
} from './job/job-text.ts'
export {
  compactJson,
  decodeString,
  maxJsonDepth,
  maxJsonFields,
  scanArray,
  scanFields,
  scanObject,
  type RawField,
} from './job/json-scan.ts'
export { defaultMaxLineBytes, LineDecoder } from './line-decoder.ts'
export {
  parseMutate,
  type Mutate,
  type MutateFilter,
  type MutateOperation,
  type MutateTarget,
} from './job/mutate.ts'
export { hashPassword, isSameHash, verifyPassword } from './password.ts'
export { parseQueueCommand, type QueueCommand } from './verb-arguments.ts'
export { bulk, error, nullBulk, okReply, simple } from './reply.ts'
export { ReplyDecoder, type Reply, type ReplyDecoderOptions } from './reply-decoder.ts'
export { formatRfc3339, parseRfc3339 } from './job/timestamp.ts'
export { parseTrack, type Track } from './verb-arguments.ts'
export { parseCommand, type Command, type Verb } from './verbs.ts'
export {
  argsOfInput,
  inputOfArgs,
  isDeeper,
  maxArgsDepth,
  type FaktoryArgs,
  type PayloadRule,
} from './job/payload.ts'
