import type { Case } from '../script.ts'
import { adminCases } from './admin.ts'
import { framingCases } from './framing.ts'
import { leavingCases } from './leaving.ts'
import { orderCases } from './order.ts'
import { packetCases } from './packets.ts'
import { queueCases } from './queues.ts'
import { resultCases } from './results.ts'
import { sleepCases } from './sleep.ts'
import { specialCases } from './special.ts'
import { uniqueCases } from './unique.ts'
import { versionCases } from './versions.ts'
import { workerCases } from './workers.ts'

/** All cases, in the order of the topics. */
export const cases: readonly Case[] = [
  ...adminCases,
  ...packetCases,
  ...framingCases,
  ...uniqueCases,
  ...orderCases,
  ...versionCases,
  ...sleepCases,
  ...workerCases,
  ...resultCases,
  ...leavingCases,
  ...queueCases,
  ...specialCases,
]
