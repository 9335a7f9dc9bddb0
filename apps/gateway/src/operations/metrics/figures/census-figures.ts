import { type Census, HandCounts, type Hands } from '../../../doors/net/census.ts'
import type { Metric } from 'prom-client'
import { counter, gauge, type Value } from '../figure.ts'
import type { BoundedLabels, LaneLabels } from '../labels.ts'

/** Figures of this node's connections. */
export function censusFigures(
  doors: readonly { readonly door: string; readonly census: Census }[],
  labels: LaneLabels,
): readonly Metric[] {
  const ofDoors = (value: (census: Census) => number): readonly Value[] =>
    doors.map(({ door, census }) => [{ door }, value(census)])
  return [
    gauge(
      'crossgear_clients',
      'Connections that are not workers, by door',
      ofDoors(({ clients }) => clients),
    ),
    gauge(
      'crossgear_workers',
      'Workers of this node by function, door and state: busy with a job of the function, or idle altogether; Faktory consumers, which name no functions, only while they are busy',
      doors.flatMap(({ door, census: { byFunction } }) =>
        handValues(byFunction, labels.functions, (label) => ({ function: label, door })),
      ),
    ),
    gauge(
      'crossgear_consumers',
      'Faktory workers of this node by queue that they fetch from and state',
      doors.flatMap(({ census: { byQueue } }) =>
        handValues(byQueue, labels.queues, (queue) => ({ queue })),
      ),
    ),
    counter(
      'crossgear_bytes_in_total',
      'Bytes received, by door',
      ofDoors(({ bytesIn }) => bytesIn),
    ),
    counter(
      'crossgear_bytes_out_total',
      'Bytes sent, by door',
      ofDoors(({ bytesOut }) => bytesOut),
    ),
  ]
}

function handValues(
  hands: ReadonlyMap<string, Hands>,
  labels: BoundedLabels,
  labelsOf: (label: string) => Readonly<Record<string, string>>,
): readonly Value[] {
  const sums = new HandCounts()
  for (const [name, { idle, busy }] of hands) {
    sums.add(labels.of(name), 'idle', idle)
    sums.add(labels.of(name), 'busy', busy)
  }
  return [...sums.counts].flatMap(([label, { idle, busy }]) => [
    [{ ...labelsOf(label), state: 'idle' }, idle],
    [{ ...labelsOf(label), state: 'busy' }, busy],
  ])
}
