import { isQueueName } from '@crossgear/core-scheduler'
import { MigrationError } from '../errors.ts'
import type { JobRecord, RecordState } from '../record/record.ts'

/** Selects and renames jobs. */
export interface SelectionOptions {
  /** Function names; `*` stands for any characters. All. */
  readonly only?: readonly string[]
  /** None. */
  readonly except?: readonly string[]
  /** All. */
  readonly states?: readonly RecordState[]
  /** `old=new`, `old=new@queue` or `old=@queue`. */
  readonly map?: readonly string[]
}

interface Renamed {
  readonly fn?: string
  readonly queue?: string
}

/** Picks jobs and renames them. */
export class Selection {
  readonly #only: readonly RegExp[]
  readonly #except: readonly RegExp[]
  readonly #states: ReadonlySet<RecordState> | undefined
  readonly #map: ReadonlyMap<string, Renamed>

  /** Throws a {@link MigrationError} for an invalid map. */
  constructor(options: SelectionOptions = {}) {
    this.#only = (options.only ?? []).map(patternOf)
    this.#except = (options.except ?? []).map(patternOf)
    this.#states = options.states && new Set(options.states)
    this.#map = new Map((options.map ?? []).map(mappingOf))
  }

  /** True if jobs of a function may be selected. */
  wants(fn: string): boolean {
    if (this.#only.length > 0 && !this.#only.some((pattern) => pattern.test(fn))) return false
    return !this.#except.some((pattern) => pattern.test(fn))
  }

  /** The record to store; undefined if it stays. */
  pick(record: JobRecord): JobRecord | undefined {
    const { fn, state } = record
    if (this.#states && !this.#states.has(state)) return undefined
    if (!this.wants(fn)) return undefined
    const renamed = this.#map.get(fn)
    return renamed ? { ...record, ...renamed } : record
  }
}

function patternOf(name: string): RegExp {
  const escaped = name.replaceAll(/[.+?^${}()|[\]\\]/g, String.raw`\$&`)
  return new RegExp(`^${escaped.replaceAll('*', '.*')}$`, 's')
}

function mappingOf(text: string): [string, Renamed] {
  const [, old = '', fn = '', queue] = /^([^=]+)=([^@]*)(?:@(.+))?$/s.exec(text) ?? []
  if (old === '' || (fn === '' && queue === undefined)) {
    throw new MigrationError('USAGE', `--map ${text}: give old=new, old=new@queue or old=@queue.`)
  }
  if (queue !== undefined && !isQueueName(queue)) {
    throw new MigrationError('USAGE', `--map ${text}: ${queue} is not a queue name.`)
  }
  return [old, { ...(fn !== '' && { fn }), ...(queue !== undefined && { queue }) }]
}
