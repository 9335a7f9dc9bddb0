export { type AdminCommand, parseAdminLine } from './admin-commands.ts'
export type { PlainCommand } from './admin-commands.ts'
export * from './admin-replies.ts'
export { Decoder, type DecoderOptions } from './decoder.ts'
export { encode, encodeRequest, encodeResponse, noJob, noop } from './encoder.ts'
export {
  encodeError,
  type ErrorPacket,
  type ErrorPacketKey,
  errorPackets,
} from './error-packets.ts'
export { type CodecErrorCode, codecErrorCodes, GearmanCodecError } from './errors.ts'
export {
  defaultMaxLineBytes,
  defaultMaxPacketBytes,
  maxClientIdBytes,
  maxFunctionBytes,
  maxLengthField,
  maxUniqueBytes,
  type Packet,
  packetHeaderBytes,
  type TextLine,
} from './packet.ts'
export {
  type Magic,
  maxPacketCode,
  type PacketName,
  type PacketType,
  packetTypes,
  type RequestName,
  type ResponseName,
} from './packet-types.ts'
export {
  plainSubmissions,
  type PlainSubmission,
  type Priority,
  submissionName,
  type SubmissionType,
  submissionTypes,
} from './submissions.ts'
export { splitArguments } from './split-arguments.ts'
export type { Argument } from './write-packet.ts'
