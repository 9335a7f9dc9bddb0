import { faktoryRow } from './faktory/faktory-row.ts'
import { gearmanRow } from './gearman/gearman-row.ts'
import { httpRow } from './http/http-row.ts'

/** Every door, in the order of opening. Options, names of sockets, labels of metrics, the API and the dashboard come from here. */
export const doors = [gearmanRow, faktoryRow, httpRow] as const

export type DoorRows = (typeof doors)[number]
export type DoorName = DoorRows['name']
