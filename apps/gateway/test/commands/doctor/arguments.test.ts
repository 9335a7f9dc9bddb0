import { describe, expect, test } from 'vitest'
import { readDoctorArguments } from '../../../src/commands/doctor/arguments.ts'

const out = { write: () => undefined }
const read = (...words: readonly string[]) => readDoctorArguments(words, out)

describe('the command line of doctor', () => {
  test('names for how long --capacity measures each load, 2 seconds where it says nothing', () => {
    expect(read('--capacity')).toMatchObject({ capacitySeconds: 2, isJson: false })
    expect(read('--capacity', '--seconds', '60', '--json')).toMatchObject({
      capacitySeconds: 60,
      isJson: true,
    })
  })

  test('measures nothing without --capacity', () => {
    expect(read('--full')).toEqual({ flags: {}, isFull: true, isJson: false })
  })
})
