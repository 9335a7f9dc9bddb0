import { html } from '../html.js'
import { hrefOf } from '../router.js'
import { Badge, Name, Text, When } from './bits.js'

/** @typedef {import('../types.d.ts').Worker} Worker */
/** @typedef {Worker['jobs'][number]} Held */

/**
 * The last note of a worker on its job, in words.
 *
 * @param {Held} job
 */
export function progressWords({ progress }) {
  if (!progress) return ''
  const { percent, note } = progress
  return [percent === null ? '' : `${Math.round(percent)} %`, note ?? ''].filter(Boolean).join(', ')
}

/** @param {{ job: Held }} props */
export function HeldJob({ job }) {
  const noted = progressWords(job)
  return html`<span class="held">
    <a class="mono" href=${hrefOf('job', job.id)}>${job.id}</a>${' '}<${Name} name=${job.function} />
    <span class="muted">${' '}taken <${When} time=${job.since} />${noted && html`, <${Text} text=${noted} />`}</span>
  </span>`
}

/**
 * A worker that takes jobs is busy or idle; one that was ordered otherwise is what it was ordered to be.
 *
 * @param {{ worker: Pick<Worker, 'state' | 'jobs_total'> }} props
 */
export function WorkerState({ worker: { state, jobs_total: jobs } }) {
  if (state !== 'running') return html`<${Badge} tone="retry">${state}<//>`
  return jobs > 0 ? html`<${Badge} tone="running">busy<//>` : html`<${Badge}>idle<//>`
}

/**
 * How a worker is found: its host and process, else its address.
 *
 * @param {{ hostname: string | null, pid: number | null, address: string | null }} worker
 */
export function placeOf({ hostname, pid, address }) {
  const process = pid === null ? '' : `pid ${pid}`
  return [hostname ?? '', process, address ?? ''].filter(Boolean).join(' · ')
}
