import { LogFile } from '../log/log-file.ts'
import { Random } from '@crossgear/tools/random'
import { ClientLoop } from './client-loop.ts'
import { FeatureLoop } from './feature-loop.ts'
import { FaktoryClient } from './protocols/faktory-client.ts'
import { FaktoryWorker } from './protocols/faktory-worker.ts'
import { GearmanClient } from './protocols/gearman-client.ts'
import { GearmanWorker } from './protocols/gearman-worker.ts'
import { NativeClient } from './protocols/native-client.ts'
import { NativeWorker } from './protocols/native-worker.ts'
import { storeConnection } from './store-connection.ts'
import type { ResultListener, Submitter } from './submission.ts'
import type { ClientTask, DoorName, Progress, Task, WorkerTask } from './tasks.ts'
import { Work } from './work.ts'
import type { PeerWorker } from './worker.ts'

/**
 * The program of a client or worker. Its only argument is its task; orders come from its parent.
 */

const submitters: Readonly<
  Record<DoorName, (task: ClientTask, results: ResultListener) => Submitter>
> = {
  gearman: (task, results) => new GearmanClient(task.ways, task.seed, results),
  faktory: (task) => new FaktoryClient(task.ways, task.seed),
  native: (task, results) => new NativeClient(storeConnection(task.store), results),
}

const workers: Readonly<Record<DoorName, (task: WorkerTask, work: Work) => PeerWorker>> = {
  gearman: (task, work) => new GearmanWorker(task.ways, task.lanes, task.concurrency, work),
  faktory: (task, work) =>
    new FaktoryWorker(task.ways, task.lanes, task.concurrency, work, task.name),
  native: (task, work) =>
    new NativeWorker(storeConnection(task.store), task.lanes, task.concurrency, work),
}

const task = JSON.parse(process.argv[2] ?? '') as Task
const log = new LogFile(task.log)
const random = new Random(task.seed)
const report = (progress: Progress): void => void process.send?.(progress)
// The peer ends with its parent.
process.once('disconnect', () => process.exit())

if (task.role === 'client') {
  const loop = new ClientLoop(
    task,
    (results) => submitters[task.door](task, results),
    log,
    random,
    report,
  )
  process.once('message', () => {
    loop.stop()
    log.flush()
    process.exit()
  })
  let isOver = false
  const features = task.door === 'faktory' ? [0, 1] : []
  const beside = features.map((number) => new FeatureLoop(task, log, number).run(() => isOver))
  await loop.run()
  isOver = true
  await Promise.all(beside)
  loop.reportDone()
} else {
  const worker = workers[task.door](task, new Work(log, random, task.workMs))
  process.once('message', () => {
    void worker.stop().finally(() => {
      log.flush()
      process.exit()
    })
  })
  worker.start()
  report({ acknowledged: 0, done: false })
}
