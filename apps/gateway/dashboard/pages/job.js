import { html } from '../html.js'
import { useState } from '../lib/hooks.js'
import { pathWith } from '../api.js'
import { duration, reasonOf } from '../format.js'
import { cancelMeaning, storyOf } from '../job-story.js'
import { ActDialog } from '../parts/act-dialog.js'
import {
  Badge,
  Name,
  NotShown,
  PageHead,
  StateBadge,
  Text,
  Trouble,
  When,
  doorName,
} from '../parts/bits.js'
import { useOrders } from '../parts/confirm-act.js'
import { placeOf } from '../parts/held-jobs.js'
import { Payload } from '../parts/payload.js'
import { indented, visible } from '../payload-text.js'
import { WaitsNotice } from '../parts/waits.js'
import { ResubmitDialog } from '../parts/submit-dialog.js'
import { hrefOf } from '../router.js'
import { useMayAct, useRead } from '../state.js'

/** @typedef {import('../types.d.ts').JobDetail} JobDetail */
/** @typedef {import('../job-acts.js').Act} Act */

/** Acts that a job of each state takes. */
const actsOf = /** @type {Readonly<Record<string, readonly Act[]>>} */ ({
  waiting: ['cancel', 'move', 'delete'],
  running: ['cancel'],
  scheduled: ['retry', 'cancel', 'move', 'delete'],
  retry: ['retry', 'cancel', 'move', 'delete'],
  dead: ['retry', 'move', 'delete'],
})

const actWords = /** @type {const} */ ({
  retry: 'Retry now',
  cancel: 'Cancel',
  move: 'Move',
  delete: 'Delete',
})

/** @param {import('./all.js').PageProps} props */
export function JobPage({ route }) {
  const mayAct = useMayAct()
  const [act, setAct] = useState(/** @type {Act | 'resubmit' | undefined} */ (undefined))
  /** @type {import('../state.js').Reading<JobDetail>} */
  const reading = useRead(pathWith('/jobs', route.id), { payload: 'none', envelope: false })
  const { data, error, reload } = reading
  /**
   * The job with its envelope, which may be long and does not change: it is read once.
   *
   * @type {import('../state.js').Reading<JobDetail>}
   */
  const { data: first } = useRead(pathWith('/jobs', route.id), { payload: 'none' }, 0)
  const { envelope = null, envelope_is_cut: isCut = false } =
    first?.id === data?.id ? (first ?? {}) : {}
  const job = data && { ...data, envelope, envelope_is_cut: isCut }
  const { ask, dialog } = useOrders(reload)
  if (!job) {
    return html`<div>
      <${PageHead} title=${`Job ${route.id}`} />
      <${NotShown}
        reading=${reading}
        none="No such job"
        others=${html`<a href=${hrefOf('jobs')}>Look at all jobs</a>`}
      >
        <p>It is done, was deleted, or never was: finished jobs leave, unless a route keeps them.</p>
      <//>
    </div>`
  }
  const close = () => setAct(undefined)
  return html`<div>
    <${PageHead}
      title=${job.function}
      hint=${html`<span class="mono">${job.id}</span> ${' '}<${StateBadge} state=${job.state} />`}
    >
      ${
        mayAct &&
        html`${(actsOf[job.state] ?? []).map(
          (name) =>
            html`<button
            key=${name}
            type="button"
            class=${name === 'delete' || name === 'cancel' ? 'danger' : ''}
            onClick=${() => setAct(name)}
          >
            ${actWords[name]}
          </button>`,
        )}
        <button type="button" class="primary" onClick=${() => setAct('resubmit')}>
          Edit and resubmit
        </button>`
      }
    <//>
    <${Trouble} error=${error === undefined ? undefined : `${error} The page shows how it was.`} />
    <div class="stack">
      <${WaitsNotice} reason=${job.waits_for} onAsk=${ask} />
      <div class="columns">
        <${Story} job=${job} />
        <${Facts} job=${job} />
      </div>
      ${job.error && html`<${Failure} error=${job.error} />`}
      <${Payload} title="Payload" part="payload" job=${job.id} size=${job.payload.size_bytes} />
      ${
        job.output &&
        html`<${Payload} title="Output" part="output" job=${job.id} size=${job.output.size_bytes} />`
      }
      ${
        (job.envelope !== null || job.envelope_is_cut) &&
        html`<section class="panel">
        <header>
          <h2>Faktory job, without its arguments</h2>
          ${job.envelope_is_cut && html`<${Badge} tone="retry">Cut<//>`}
        </header>
        <pre class="payload" tabindex="0">${job.envelope === null ? 'Too long to show' : envelopeText(job.envelope)}</pre>
      </section>`
      }
    </div>
    ${dialog}
    ${
      act !== undefined &&
      (act === 'resubmit'
        ? html`<${ResubmitDialog} id=${job.id} onClose=${close} />`
        : html`<${ActDialog}
          act=${act}
          selection=${{ jobs: [job.id] }}
          means=${act === 'cancel' ? cancelMeaning(job) : undefined}
          onClose=${close}
          onDone=${() => {
            close()
            reload()
          }}
        />`)
    }
  </div>`
}

/** @param {{ job: JobDetail }} props */
function Story({ job }) {
  return html`<section class="panel">
    <header><h2>Timeline</h2></header>
    <ol class="timeline inside">
      ${storyOf(job).map(
        ({ time, what, more, tone, trace = [] }, at) =>
          html`<li key=${at} class=${tone}>
          <span class="what"><${Text} text=${what} /></span>${' '}
          ${time !== null && html`<span class="muted"><${When} time=${time} /></span>`}
          ${more && html`<div class="muted"><${Text} text=${more} /></div>`}
          ${
            trace.length > 0 &&
            html`<details>
            <summary>Backtrace</summary>
            <pre class="backtrace" tabindex="0">${visible(trace.join('\n'))}</pre>
          </details>`
          }
        </li>`,
      )}
    </ol>
  </section>`
}

/** @param {{ job: JobDetail }} props */
function Facts({ job }) {
  const { function: fn, queue, resubmitted_from: origin } = job
  /** @type {readonly (readonly [string, unknown])[]} */
  const all = [
    ['Function', html`<a href=${hrefOf('function', fn)}><${Name} name=${fn} /></a>`],
    ['Queue', html`<a href=${hrefOf('queue', queue)}><${Name} name=${queue} /></a>`],
    ['Door', doorName(job.door)],
    ['Level', `${job.level} of 9`],
    ['Kind', job.foreground ? 'Foreground: only run while a client waits' : 'Background'],
    ['Gearman handle', html`<span class="mono">${job.handle}</span>`],
    [
      'Faktory jid',
      job.jid !== null && html`<span class="mono"><${Text} text=${job.jid} /></span>`,
    ],
    [
      'Unique id',
      job.unique !== null && html`<span class="mono"><${Text} text=${job.unique} /></span>`,
    ],
    ['Worker', job.held_by?.worker && html`<${WorkerOf} worker=${job.held_by.worker} />`],
    ['Worker has it since', job.held_by?.since && html`<${When} time=${job.held_by.since} />`],
    ['Waiting clients', job.waiting_clients > 0 && job.waiting_clients],
    ['Retries', (job.retries ?? 0) > 0 ? job.retries : 'None: the first failure is final'],
    ['Reserved for', job.reserve_for_seconds !== null && duration(job.reserve_for_seconds)],
    ['Kept when done', job.retention_seconds !== null && duration(job.retention_seconds)],
    [
      'Batch',
      job.batch !== null &&
        html`<a href=${hrefOf('batches', job.batch)} class="mono"><${Text} text=${job.batch} /></a>`,
    ],
    ['Trace', job.trace !== null && html`<span class="mono">${job.trace}</span>`],
    [
      'Run again of',
      origin !== null && html`<a href=${hrefOf('job', origin)} class="mono">${origin}</a>`,
    ],
  ]
  return html`<section class="panel">
    <header><h2>Facts</h2></header>
    <dl class="facts inside">
      ${all
        .filter(([, value]) => value !== false && value !== null && value !== undefined)
        .map(([label, value]) => [
          html`<dt key=${`${label} name`}>${label}</dt>`,
          html`<dd key=${label}>${value}</dd>`,
        ])}
    </dl>
  </section>`
}

/** @param {{ worker: NonNullable<NonNullable<JobDetail['held_by']>['worker']> }} props */
function WorkerOf({ worker }) {
  const { worker: id, name, address } = worker
  return html`<a href=${hrefOf('worker', id)}><${Name} name=${name || address || id} /></a>
    <span class="under"><${Text} text=${placeOf(worker)} /></span>`
}

/** @param {JobDetail['envelope']} envelope a text where it is no JSON, or too deep */
function envelopeText(envelope) {
  const text = typeof envelope === 'string' ? envelope : indented(JSON.stringify(envelope))
  return visible(text ?? '')
}

/** @param {{ error: NonNullable<JobDetail['error']> }} props */
function Failure({ error }) {
  return html`<section class="panel">
    <header>
      <h2>Error</h2>
      ${error.failed_at !== null && html`<span class="muted"><${When} time=${error.failed_at} /></span>`}
    </header>
    <div class="inside failure">
      <p><b><${Text} text=${error.type ?? 'Error'} /></b></p>
      <p><${Text} text=${reasonOf(error)} /></p>
      ${
        error.backtrace.length > 0 &&
        html`<pre class="backtrace" tabindex="0">${visible(error.backtrace.join('\n'))}</pre>`
      }
    </div>
  </section>`
}
