import { Type } from '@sinclair/typebox'
import { type Endpoint, read, strict } from './endpoint.ts'
import { cursor, limit } from './schemas/common.ts'
import * as fleet from './schemas/fleet.ts'
import * as jobs from './schemas/jobs.ts'
import * as lanes from './schemas/lanes.ts'

const name = (description: string) => Type.String({ minLength: 1, maxLength: 255, description })

/** Every operation that a gateway process answers, by name. */
export const endpoints = {
  getOverview: read({
    ...{ path: '/overview', tag: 'Store', answer: lanes.overview },
    summary: 'Figures of the whole store, a second old at most',
  }),
  listJobs: read({
    ...{ path: '/jobs', tag: 'Jobs', query: jobs.jobQuery, answer: jobs.jobPage },
    summary:
      'Jobs that a filter takes. One call looks at a bounded number of jobs: a page may be short or empty, and goes on with its cursor',
  }),
  getJob: read({
    ...{ path: '/jobs/{job}', tag: 'Jobs', answer: jobs.jobDetail },
    summary: 'One job with its payload',
    params: strict({ job: jobs.jobId }),
    query: jobs.payloadQuery,
  }),
  listFunctions: read({
    ...{ path: '/functions', tag: 'Functions and queues', answer: lanes.functionPage },
    summary: 'Functions, one entry for each queue that a function has jobs of',
    query: lanes.listQuery,
  }),
  listQueues: read({
    ...{ path: '/queues', tag: 'Functions and queues', answer: lanes.queuePage },
    summary: 'Faktory queues',
    query: lanes.listQuery,
  }),
  getScale: read({
    ...{ path: '/scale', tag: 'Functions and queues', answer: lanes.scale },
    summary: 'The figures of one function that an autoscaler needs',
    query: lanes.scaleQuery,
  }),
  listThrottles: read({
    ...{ path: '/throttles', tag: 'Functions and queues', answer: lanes.throttles },
    summary: 'Limits of queues, as the configuration sets them',
  }),
  listWorkers: read({
    ...{ path: '/workers', tag: 'Workers and nodes', answer: fleet.workers },
    summary: 'Workers of this gateway, by function, queue and door',
  }),
  listConnections: read({
    ...{ path: '/connections', tag: 'Workers and nodes', answer: fleet.connections },
    summary: 'Gearman connections of this gateway',
    query: strict({ limit, cursor }),
  }),
  listNodes: read({
    ...{ path: '/nodes', tag: 'Workers and nodes', answer: fleet.nodes },
    summary: 'Gateways on the store',
  }),
  listCron: read({
    ...{ path: '/cron', tag: 'Cron, batches, migrations', answer: fleet.cron },
    summary: 'Jobs that are pushed by the clock',
  }),
  getBatch: read({
    ...{ path: '/batches/{batch}', tag: 'Cron, batches, migrations', answer: fleet.batch },
    summary: 'How far a batch is',
    params: strict({ batch: name('The bid that BATCH NEW gave') }),
  }),
  getMigration: read({
    ...{ path: '/migrations/{migration}', tag: 'Cron, batches, migrations' },
    summary: 'How far a migration is',
    params: strict({ migration: name('The name that crossgear migrate was given') }),
    answer: fleet.migration,
  }),
} as const satisfies Readonly<Record<string, Endpoint>>

export type Endpoints = typeof endpoints
export type OperationName = keyof Endpoints

export const operationNames = Object.keys(endpoints) as readonly OperationName[]
