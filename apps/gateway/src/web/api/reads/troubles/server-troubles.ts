import type { ServerReport } from '@crossgear/core-scheduler'
import { isoTime } from '../../schemas/common.ts'
import type { Trouble } from './trouble.ts'

/** Shares of maxmemory, or of the machine's memory without one, from which it is said. */
const much = 0.8
const mib = 1024 * 1024

/** Troubles of a server of the store. */
export function serverTroubles(report: ServerReport): readonly Trouble[] {
  const { server, policy, maxBytes, machineBytes, usedBytes, hasFailed, isAppendOnly } = report
  const found: Trouble[] = []
  const add = (code: Trouble['code'], text: string): void => {
    found.push({ code, kind: 'server', name: server, text, since: null, jobs: null, act: null })
  }
  if (hasFailed) {
    const what = isAppendOnly ? 'its append-only file' : 'its last snapshot'
    add('persistence', `The store could not write ${what}: look at its disk and its log`)
  }
  if (policy !== 'noeviction' && maxBytes > 0) {
    add('eviction', `maxmemory-policy ${policy}: a full store drops jobs; set noeviction`)
  }
  const all = maxBytes || machineBytes
  if (all > 0 && usedBytes >= much * all) {
    const of = maxBytes > 0 ? 'its maxmemory' : 'the memory of its machine'
    const share = Math.floor((100 * usedBytes) / all)
    add(
      'memory',
      `The store uses ${inMib(usedBytes)}, ${share} % of ${of}: a full one takes no jobs`,
    )
  }
  return found
}

/** A server as the API shows it. */
export function serverView(report: ServerReport) {
  return {
    server: report.server,
    used_bytes: report.usedBytes,
    max_bytes: report.maxBytes || null,
    machine_bytes: report.machineBytes,
    policy: report.policy,
    is_append_only: report.isAppendOnly,
    last_save: isoTime(report.savedMs),
    unsaved_changes: report.unsaved,
  }
}

function inMib(bytes: number): string {
  return `${Math.ceil(bytes / mib).toLocaleString('en-US')} MiB`
}
