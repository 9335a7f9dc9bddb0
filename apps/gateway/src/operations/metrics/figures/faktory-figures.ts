import type { Metric } from 'prom-client'
import { counter, gauge, only } from '../figure.ts'
import type { BoundedLabels } from '../labels.ts'

/** The part of INFO that is the same at every node. */
interface Info {
  readonly faktory: {
    readonly queues: Readonly<Record<string, number>>
    readonly tasks: Readonly<Record<string, Readonly<Record<string, number>>>>
    readonly total_enqueued: number
    readonly total_failures: number
    readonly total_processed: number
    readonly total_queues: number
  }
}

/** Figures of tasks that only grow. */
const growing: ReadonlySet<string> = new Set(['cycles', 'enqueued', 'reaped', 'wall_time_sec'])

/**
 * The figures of faktory_exporter, from the text of INFO; undefined while the store does not
 * answer. {@link faktoryServerFigures} adds the server's own connections and commands.
 */
export function faktoryFigures(info: string | undefined, labels: BoundedLabels): readonly Metric[] {
  if (info === undefined) return [gauge('faktory_up', upHelp, only(0))]
  const { faktory } = JSON.parse(info) as Info
  const sizes = new Map<string, number>()
  for (const [queue, size] of Object.entries(faktory.queues)) {
    const label = labels.of(queue)
    sizes.set(label, (sizes.get(label) ?? 0) + size)
  }
  const statuses = {
    enqueued: faktory.total_enqueued,
    failure: faktory.total_failures,
    processed: faktory.total_processed,
  }
  return [
    gauge('faktory_up', upHelp, only(1)),
    counter(
      'faktory_jobs_total',
      'Total amount of jobs',
      Object.entries(statuses).map(([status, value]) => [{ status }, value]),
    ),
    gauge('faktory_queues_total', 'Total amount of queues', only(faktory.total_queues)),
    gauge(
      'faktory_queue_jobs',
      'Jobs in a queue',
      [...sizes].map(([queue, value]) => [{ queue }, value]),
    ),
    ...Object.entries(faktory.tasks).flatMap(([task, fields]) =>
      Object.entries(fields).map(([field, value]) => {
        const make = growing.has(field) ? counter : gauge
        const name = `faktory_tasks_${task.toLowerCase()}_${field}`
        return make(name, `The figure ${field} of INFO's task ${task}`, only(value))
      }),
    ),
  ]
}

const upHelp = 'Whether the server can be asked for its figures'

/** Commands and connections of this node. */
export function faktoryServerFigures(commands: number, connections: number): readonly Metric[] {
  return [
    counter('faktory_server_command_count', 'Commands of clients', only(commands)),
    gauge('faktory_server_connections', 'Clients that are connected', only(connections)),
  ]
}
