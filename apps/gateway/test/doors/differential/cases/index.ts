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

/** Packets, text commands and the order of jobs. */
export const wireCases: readonly Case[] = [
  ...adminCases,
  ...packetCases,
  ...framingCases,
  ...uniqueCases,
  ...orderCases,
  ...versionCases,
]

/** A job's way to its worker, and its result's to the client. */
export const jobCases: readonly Case[] = [
  ...sleepCases,
  ...workerCases,
  ...resultCases,
  ...leavingCases,
  ...queueCases,
  ...specialCases,
]

/** All cases, in the order of the topics. */
export const cases: readonly Case[] = [...wireCases, ...jobCases]
