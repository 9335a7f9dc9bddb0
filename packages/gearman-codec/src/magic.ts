/** `\0REQ` as a big-endian word. */
export const MAGIC_REQ = 0x00_52_45_51

/** `\0RES` as a big-endian word. */
export const MAGIC_RES = 0x00_52_45_53
