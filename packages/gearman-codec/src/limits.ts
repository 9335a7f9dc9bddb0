/** Bytes of a binary packet's header: magic, type and length, four bytes each. */
export const packetHeaderBytes = 12

/** Longest unique id, and longest reducer, in bytes without a terminator. */
export const maxUniqueBytes = 64

/** Longest function name in bytes that client libraries send. */
export const maxFunctionBytes = 511

/** Bytes kept of a SET_CLIENT_ID; the rest is cut off. */
export const maxClientIdBytes = 127

/** Largest data part that a length field can state, in bytes. */
export const maxLengthField = 0xffff_ffff

/** Default of `DecoderOptions.maxPacketBytes`: 64 MiB. */
export const defaultMaxPacketBytes = 64 * 1024 * 1024

/** Default of `DecoderOptions.maxLineBytes`: 8 KiB, the line end counted. */
export const defaultMaxLineBytes = 8192
