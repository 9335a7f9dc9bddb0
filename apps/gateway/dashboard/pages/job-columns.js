import { html } from '../html.js'
import { reasonOf } from '../format.js'
import { Name, StateBadge, Text, When, doorName } from '../parts/bits.js'
import { WaitWords } from '../parts/waits.js'
import { hrefOf } from '../router.js'

/** @typedef {import('../types.d.ts').Job} Job */
/** @typedef {import('../parts/table.js').Column<Job>} JobColumn */

/**
 * Columns of a list of jobs, which differ with the state that all of them have.
 *
 * @param {string | undefined} state
 * @returns {readonly JobColumn[]}
 */
export function jobColumns(state) {
  const time = (state && timeColumns[state]) || queuedColumn
  return [
    { id: 'function', label: 'Job', isMain: true, cell: (job) => html`<${MainCell} job=${job} />` },
    ...(state === undefined
      ? [
          /** @type {JobColumn} */ ({
            id: 'state',
            label: 'State',
            cell: (job) => html`<${StateBadge} state=${job.state} />`,
          }),
        ]
      : []),
    {
      id: 'queue',
      label: 'Queue',
      cell: ({ queue }) =>
        html`<a href=${hrefOf('jobs', '', { queue })}><${Name} name=${queue} /></a>`,
    },
    { id: 'door', label: 'Door', cell: ({ door }) => doorName(door) },
    { id: 'level', label: 'Level', isNumber: true, cell: ({ level }) => level },
    time,
  ]
}

/** @type {JobColumn} */
const queuedColumn = {
  id: 'queued',
  label: 'Queued',
  isNumber: true,
  cell: (job) => html`<${When} time=${job.enqueued_at ?? job.due_at} />`,
}

/** @type {Readonly<Record<string, JobColumn>>} */
const timeColumns = {
  scheduled: {
    id: 'due',
    label: 'Due',
    isNumber: true,
    sort: 'time',
    cell: (job) => html`<${When} time=${job.due_at} />`,
  },
  retry: {
    id: 'next',
    label: 'Next try',
    isNumber: true,
    sort: 'time',
    cell: (job) => html`<${When} time=${job.due_at} />`,
  },
  dead: {
    id: 'died',
    label: 'Died',
    isNumber: true,
    sort: 'time',
    cell: (job) => html`<${When} time=${job.died_at} />`,
  },
}

/** Reasons that a column says: when a job is due. */
const saidByColumn = new Set(['scheduled', 'retry'])

/**
 * The first characters of a payload, null for a long one; nothing of a gateway of a former version.
 *
 * @param {{ start: string | null | undefined }} props
 */
function PayloadStart({ start }) {
  if (start === null)
    return html`<span class="under" data-payload>A payload too long for a list</span>`
  if (!start) return null
  return html`<span class="under short mono" data-payload><${Text} text=${start} /></span>`
}

/** @param {{ job: Job }} props */
function MainCell({ job }) {
  const { error, progress } = job
  const percent = progress?.percent
  return html`<a href=${hrefOf('job', job.id)} data-job=${job.id}><${Name} name=${job.function} /></a>
    <span class=${`under ${error ? 'error' : ''}`}>
      <span class="mono">${job.jid ?? job.handle}</span>
      ${percent != null && ` · ${Math.round(percent)} %`}
      ${error && html`${' · '}${error.type && html`<b><${Text} text=${error.type} /></b>${' '}`}<${Text} text=${reasonOf(error)} />`}
    </span>
    <${PayloadStart} start=${job.payload_start} />
    ${
      !saidByColumn.has(job.waits_for?.code ?? '') && html`<${WaitWords} reason=${job.waits_for} />`
    }`
}
