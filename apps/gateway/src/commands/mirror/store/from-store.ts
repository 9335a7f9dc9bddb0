import { lineOf, MigrationError } from '@crossgear/migration'
import type { ConfigSources } from '../../../config/load-config.ts'
import { openTargetStore } from '../../migrate/target-store.ts'
import type { MirrorArguments } from '../arguments.ts'
import type { Difference } from '../results/comparisons.ts'
import { nameOf } from '../server-address.ts'
import { FaktorySink } from './copy-sink.ts'
import { GearmanSink } from './copy-sink.ts'
import { StoreMirror, type StoreMirrorOptions } from './store-mirror.ts'

type Given = Omit<MirrorArguments, 'from'> & {
  readonly from: { readonly store: string; readonly name: string }
  readonly onDifference: (difference: Difference) => void
  readonly onChange: (error?: Error) => void
}

const use = { writes: false, option: '--from' } as const

/** Opens a store and the connection to the server for copies. Throws a MigrationError. */
export async function openFromStore(
  given: Given,
  env: ConfigSources['env'],
  onStoreError: (line: string) => void,
) {
  const { from, to, onChange } = given
  const opened = await openTargetStore({ ...given, to: from.store }, env, use)
  const { store, names } = opened
  const sinkOf: StoreMirrorOptions['sinkOf'] = (comparisons, counts) =>
    'identity' in to
      ? new FaktorySink({ address: to.address, names, source: from.name, counts, onChange })
      : new GearmanSink({ address: to, comparisons, counts, onChange })
  const mirror = new StoreMirror({ ...given, store, names, sinkOf, onStoreError })
  let closing: Promise<void> | undefined
  const close = (): Promise<void> => {
    mirror.close()
    return (closing ??= opened.close())
  }
  try {
    await mirror.open()
  } catch (error) {
    await close()
    if (error instanceof MigrationError) throw error
    throw new MigrationError('UNREACHABLE', `${nameOf(to)}: ${lineOf(error)}.`, { cause: error })
  }
  return { counts: mirror.counts, wind: () => mirror.wind(), close }
}
