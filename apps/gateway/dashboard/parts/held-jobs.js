import { html } from '../html.js'
import { hrefOf } from '../router.js'
import { Name, When } from './bits.js'

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
    <span class="muted">${' '}taken <${When} time=${job.since} />${noted && html`, <bdi>${noted}</bdi>`}</span>
  </span>`
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
