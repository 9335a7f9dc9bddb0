import { Handles } from '../../doors/gearman/handles.ts'
import { cronActs } from './acts/cron-acts.ts'
import { jobActs } from './acts/job-acts.ts'
import { undoActs } from './acts/undo-act.ts'
import { auditReads } from './reads/audit-reads.ts'
import { laneActs } from './acts/lane-acts.ts'
import { newJobs } from './acts/new-jobs.ts'
import { Api } from './api.ts'
import { JobMove } from './acts/job-move.ts'
import type { ApiParts, HandlerParts } from './handler-parts.ts'
import { failureReads } from './reads/failures/failure-reads.ts'
import { fleetReads } from './reads/fleet-reads.ts'
import { historyReads } from './reads/history-reads.ts'
import { JobNames } from './reads/job-names.ts'
import { jobReads } from './reads/job-reads.ts'
import { JobScan } from './reads/job-scan.ts'
import { laneReads } from './reads/lane-reads.ts'
import { LatestView } from './reads/snapshot-view.ts'
import { WaitReasons } from './reads/waits/wait-reasons.ts'
import { runReads } from './reads/run-reads.ts'
import { searchReads } from './reads/search-reads.ts'
import { troubleReads } from './reads/troubles/trouble-reads.ts'
import { workerReads } from './reads/worker-reads.ts'

/** Builds what answers the API in this process. */
export function composeApi(parts: ApiParts): Api {
  const { scheduler } = parts
  const handles = new Handles(parts.config().handlePrefix, scheduler.registry)
  const names = new JobNames(scheduler, handles)
  const all: HandlerParts = {
    ...parts,
    names,
    waits: new WaitReasons({ ...parts, names }),
    scan: new JobScan(scheduler),
    view: new LatestView(parts.snapshots),
  }
  return new Api(
    {
      ...jobReads(all),
      ...failureReads(all),
      ...searchReads(all),
      ...laneReads(all),
      ...fleetReads(all),
      ...workerReads(all),
      ...historyReads(all),
      ...runReads(all),
      ...jobActs({ ...all, move: new JobMove(scheduler) }),
      ...undoActs(all),
      ...troubleReads(all),
      ...auditReads(all),
      ...newJobs(all),
      ...laneActs(all),
      ...cronActs(all),
    },
    scheduler.registry.names,
    { ...parts, onChange: () => void (all.view.changes += 1) },
  )
}
