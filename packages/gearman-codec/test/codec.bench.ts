import { bench, describe } from 'vitest'
import { Decoder, encodeRequest, encodeResponse } from '../src/index.ts'

/** Packets in one chunk, about what one read of a busy connection brings. */
const packets = 100
/** Bytes of an odd piece, so that nearly every packet is cut. */
const pieceBytes = 97

const payload = Buffer.alloc(100, 'x')
const large = Buffer.alloc(10_240, 'x')
const handle = 'H:machine.example:1:123456'

function chunkOf(packet: Buffer): Buffer {
  return Buffer.concat(Array.from({ length: packets }, () => packet))
}

const submissions = chunkOf(encodeRequest('SUBMIT_JOB', 'function', '', payload))
const largeSubmissions = chunkOf(encodeRequest('SUBMIT_JOB', 'function', '', large))
const results = chunkOf(
  Buffer.concat([encodeRequest('WORK_COMPLETE', handle, payload), encodeRequest('GRAB_JOB')]),
)

function decode(chunks: readonly Buffer[]): void {
  const decoder = new Decoder()
  for (const chunk of chunks) {
    decoder.push(chunk)
    while (decoder.next() !== undefined);
  }
}

function piecesOf(chunk: Buffer): readonly Buffer[] {
  const count = Math.ceil(chunk.length / pieceBytes)
  return Array.from({ length: count }, (_, i) =>
    chunk.subarray(i * pieceBytes, (i + 1) * pieceBytes),
  )
}

const pieces = piecesOf(submissions)

describe(`decode, ${packets} packets a call`, () => {
  bench('SUBMIT_JOB of 100 B', () => decode([submissions]))
  bench('SUBMIT_JOB of 10 KB', () => decode([largeSubmissions]))
  bench('WORK_COMPLETE of 100 B and GRAB_JOB', () => decode([results]))
  bench(`SUBMIT_JOB of 100 B in pieces of ${pieceBytes} B`, () => decode(pieces))
})

describe(`encode, ${packets} packets a call`, () => {
  bench('JOB_ASSIGN of 100 B, each in a buffer of its own', () => {
    for (let i = 0; i < packets; i++) encodeResponse('JOB_ASSIGN', handle, 'function', payload)
  })
})
