/** `\0REQ` as a big-endian word. */
export const magicReq = 0x00_52_45_51

/** `\0RES` as a big-endian word. */
export const magicRes = 0x00_52_45_53
