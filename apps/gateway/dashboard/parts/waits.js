import { html } from '../html.js'
import { stamp } from '../format.js'
import { visible } from '../payload-text.js'
import { useIsAdmin, useMayAct } from '../state.js'
import { Name } from './bits.js'

/** @typedef {import('./confirm-act.js').Order} Order */
/** @typedef {NonNullable<import('../types.d.ts').FunctionEntry['waits_for']>} Reason */

/** Acts that end a reason. */
const mendings = /** @type {const} */ ({
  resumeFunctions: {
    label: 'Resume',
    path: '/functions/resume',
    field: 'functions',
    means: 'Workers get its jobs again.',
  },
  resumeQueues: {
    label: 'Resume the queue',
    path: '/queues/resume',
    field: 'queues',
    means: 'Faktory consumers get jobs of the queue again.',
  },
  openFunctions: {
    label: 'Open to Faktory',
    path: '/functions/open',
    field: 'functions',
    means: 'Faktory consumers of its queue get its jobs, for good.',
  },
  retryJobs: {
    label: 'Run it now',
    path: '/jobs/retry',
    field: 'jobs',
    means: 'The job goes to its queue now.',
  },
})

const times = /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ/g

/**
 * The gateway's sentence with its times in the zone of the viewer. A gateway of a former version has none.
 *
 * @param {Reason | null | undefined} reason
 */
export function waitText(reason) {
  if (reason === undefined) return 'Why it waits is unknown: the gateway is of a former version'
  return reason === null ? '' : zoned(reason.text)
}

/**
 * A sentence of the gateway with its times in the zone of the viewer.
 *
 * @param {string} text
 */
export function zoned(text) {
  return visible(text.replace(times, (time) => stamp(time)))
}

/**
 * Under a name in a list.
 *
 * @param {{ reason: Reason | null | undefined }} props
 */
export function WaitWords({ reason }) {
  if (reason === null) return null
  return html`<span class="under wrapped waits" data-waits=${reason?.code ?? 'unknown'}>
    <bdi>${waitText(reason)}</bdi>
  </span>`
}

/** Reasons that call for somebody. */
const alarming = new Set(['paused', 'queue_paused', 'closed', 'no_worker', 'vanished'])

/**
 * Why something waits, with the act that ends it.
 *
 * @param {object} props
 * @param {Reason | null | undefined} props.reason
 * @param {(order: Order) => void} props.onAsk
 */
export function WaitsNotice({ reason, onAsk }) {
  const [mayAct, isAdmin] = [useMayAct(), useIsAdmin()]
  if (reason === null) return null
  const order = reason?.act && mendingOf(reason.act)
  const may = mayAct && (isAdmin || reason?.act?.operation !== 'openFunctions')
  return html`<p
    class=${`notice ${reason && alarming.has(reason.code) ? 'warn' : ''}`}
    data-waits=${reason?.code ?? 'unknown'}
  >
    <span><b>Waits for:</b> <bdi>${waitText(reason)}</bdi></span>
    ${
      order &&
      may &&
      html`<span class="grow"></span>
      <button type="button" class="small" onClick=${() => onAsk(order)}>${order.label}</button>`
    }
  </p>`
}

/**
 * The order for an act that the gateway names.
 *
 * @param {NonNullable<Reason['act']>} act
 * @returns {import('./confirm-act.js').Call}
 */
export function mendingOf({ operation, name }) {
  const { label, path, field, means } = mendings[operation]
  return {
    title: label,
    label,
    path,
    said: `${label}: done.`,
    body: { [field]: [name] },
    means: html`<p><b><${Name} name=${name} /></b></p><p>${means}</p>`,
  }
}
