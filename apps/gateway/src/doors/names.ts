import { nativeDoor } from '@crossgear/core-scheduler'
import type { DoorRow } from './net/door-row.ts'
import { type DoorName, doors } from './table.ts'

/** Names of ports in LISTEN_FDNAMES: those of the doors, and the web port. */
export const socketNames: readonly (DoorName | 'web')[] = [...doors.map(({ name }) => name), 'web']

/** Ways by which a job may have come, as people see them. */
export const waysIn: readonly Pick<DoorRow, 'name' | 'title' | 'failure'>[] = [
  ...doors,
  { name: nativeDoor, title: 'GearMonkey', failure: 'the error that it was cancelled' },
]

/** Their names. */
export const doorsOfJobs: readonly string[] = waysIn.map(({ name }) => name)
