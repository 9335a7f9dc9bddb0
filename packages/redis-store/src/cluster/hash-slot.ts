const slots = 16_384
/** CRC-16/XMODEM, as the cluster specification has it. */
const polynomial = 0x1021

/** The hash slot of a lane's keys, in which the lane stands in braces. */
export function slotOfLane(lane: string): number {
  const end = lane.indexOf('}')
  let crc = 0
  for (const byte of Buffer.from(end < 0 ? lane : lane.slice(0, end))) {
    crc ^= byte << 8
    for (let bit = 0; bit < 8; bit += 1) {
      crc = (crc & 0x8000) === 0 ? crc << 1 : (crc << 1) ^ polynomial
    }
    crc &= 0xffff
  }
  return crc % slots
}
