/** Numbers of the Gearman packets that floods are made of. */
const codes = {
  CAN_DO: 1,
  RESET_ABILITIES: 3,
  PRE_SLEEP: 4,
  SUBMIT_JOB: 7,
  GRAB_JOB: 9,
  WORK_COMPLETE: 13,
  ECHO_REQ: 16,
  SUBMIT_JOB_BG: 18,
  WORK_DATA: 28,
  SUBMIT_JOB_SCHED: 35,
} as const

/** A Gearman request. Bytes by hand, so that no codec of ours has to let them pass. */
export function packet(name: keyof typeof codes, ...args: readonly (string | Buffer)[]): Buffer {
  const data = Buffer.concat(
    args.flatMap((arg, at) =>
      at === 0 ? [Buffer.from(arg)] : [Buffer.alloc(1), Buffer.from(arg)],
    ),
  )
  return Buffer.concat([headerOf(name, data.length), data])
}

/** The first bytes of a request whose data has so many bytes. */
export function headerOf(name: keyof typeof codes, dataBytes: number): Buffer {
  const header = Buffer.alloc(12)
  header.write('\0REQ', 'latin1')
  header.writeUInt32BE(codes[name], 4)
  header.writeUInt32BE(dataBytes, 8)
  return header
}

/** The same bytes so many times. */
export function repeated(bytes: Buffer, times: number): Buffer {
  return Buffer.concat(Array.from({ length: times }, () => bytes))
}
