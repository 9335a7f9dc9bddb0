import { html } from '../html.js'
import { pathWith } from '../api.js'
import { duration, plural } from '../format.js'
import { hrefOf } from '../router.js'
import { useRead } from '../state.js'
import { Badge, Empty, Name, NotShown, PageHead, StateBadge, Text, Trouble, When } from './bits.js'
import { Table } from './table.js'

/** @typedef {import('../types.d.ts').Runs} Runs */
/** @typedef {Runs['runs'][number]} Run */
/** @typedef {import('../types.d.ts').CronRuns} CronRuns */
/** @typedef {CronRuns['runs'][number]} CronRun */

/** Gateways store their runs every ten seconds. */
const everyMs = 10_000

/** Words and tones of how runs end. */
const ends = /** @type {const} */ ({
  completed: ['Done', 'succeeded'],
  failed: ['Failed', 'failed'],
  died: ['Died', 'dead'],
  retried: ['Failed, tried again', 'retry'],
  interrupted: ['Interrupted', 'neutral'],
})

/** @param {{ end: Run['end'] }} props */
function EndBadge({ end }) {
  const [words, tone] = ends[end]
  return html`<${Badge} tone=${tone}>${words}<//>`
}

/**
 * How long a run took, and its end.
 *
 * @type {readonly import('./table.js').Column<Pick<Run, 'run_seconds' | 'ended_at'>>[]}
 */
const timeColumns = [
  {
    id: 'ran',
    label: 'Took',
    isNumber: true,
    orderBy: ({ run_seconds: ran }) => ran,
    cell: ({ run_seconds: ran }) => (ran === null ? '–' : duration(ran)),
  },
  {
    id: 'ended',
    label: 'Ended',
    isNumber: true,
    orderBy: ({ ended_at: time }) => time,
    cell: ({ ended_at: time }) => html`<${When} time=${time} />`,
  },
]

/** @type {readonly import('./table.js').Column<Run>[]} */
const columns = [
  {
    id: 'job',
    label: 'Job',
    isMain: true,
    cell: ({ job, state, error_type: type, error_line: line }) => html`${
      state === null
        ? html`<span class="mono" title="The job is gone">${job}</span>`
        : html`<a class="mono" href=${hrefOf('job', job)}>${job}</a>`
    }
      ${(type || line) && html`<span class="under error"><${Text} text=${[type, line].filter(Boolean).join(': ')} /></span>`}`,
  },
  {
    id: 'end',
    label: 'Run',
    cell: ({ end }) => html`<${EndBadge} end=${end} />`,
  },
  { id: 'queue', label: 'Queue', cell: ({ queue }) => html`<${Name} name=${queue} />` },
  ...timeColumns,
  {
    id: 'state',
    label: 'The job now',
    cell: ({ state }) =>
      state === null
        ? html`<span class="muted">gone</span>`
        : html`<${StateBadge} state=${state} />`,
  },
]

/**
 * The last runs of a function, also of jobs that are kept.
 *
 * @param {{ fn: string }} props
 */
export function LastRuns({ fn }) {
  /** @type {import('../state.js').Reading<Runs>} */
  const { data, error } = useRead(pathWith('/functions', fn, '/runs'), {}, everyMs)
  return html`<section class="panel" data-runs>
    <header>
      <h2>Last runs</h2>
      ${data && data.runs.length > 0 && html`<span class="muted">${plural(data.runs.length, 'run')} at all gateways, the newest first</span>`}
    </header>
    <${Trouble} error=${error} />
    ${
      data &&
      (data.runs.length > 0
        ? html`<${Table}
          columns=${columns}
          rows=${data.runs}
          caption="Last runs"
          keyOf=${(/** @type {Run} */ { job, ended_at: ended }) => `${job} ${ended ?? ''}`}
        />`
        : html`<${Empty} title="No run in the last 7 days">
          <p>Gateways list their runs within ten seconds; runs at native workers are listed once a gateway sees their end.</p>
        <//>`)
    }
  </section>`
}

/** @type {readonly import('./table.js').Column<CronRun>[]} */
const cronColumns = [
  {
    id: 'at',
    label: 'Pushed',
    isMain: true,
    orderBy: ({ at }) => at,
    cell: ({ at, is_by_hand: isByHand }) => html`<${When} time=${at} />
      ${isByHand && html`${' '}<${Badge}>by hand<//>`}`,
  },
  {
    id: 'outcome',
    label: 'Outcome',
    cell: ({ state, end }) => {
      if (state !== null) return html`<${StateBadge} state=${state} />`
      if (end !== null) return html`<${EndBadge} end=${end} />`
      return html`<span class="muted">Gone: done, or taken away</span>`
    },
  },
  ...timeColumns,
  {
    id: 'job',
    label: 'Job',
    cell: ({ job, state }) =>
      state === null
        ? html`<span class="mono">${job}</span>`
        : html`<a class="mono" href=${hrefOf('job', job)}>${job}</a>`,
  },
]

/**
 * The page of one cron entry: its last runs.
 *
 * @param {{ name: string }} props
 */
export function CronRuns({ name }) {
  /** @type {import('../state.js').Reading<CronRuns>} */
  const reading = useRead('/cron/runs', { entry: name }, 5_000)
  const { data, error } = reading
  const back = html`<a href=${hrefOf('cron')}>All cron entries</a>`
  return html`<div>
    <${PageHead} title=${name} hint=${html`The last ten runs of a cron entry. ${back}`} />
    ${
      data
        ? html`<${Trouble} error=${error} />${
            data.runs.length > 0
              ? html`<${Table}
                columns=${cronColumns}
                rows=${data.runs}
                caption="Last runs"
                keyOf=${(/** @type {CronRun} */ { job }) => job}
              />`
              : html`<${Empty} title="It has pushed no job so far" />`
          }`
        : html`<${NotShown} reading=${reading} none="No such cron entry" others=${back} />`
    }
  </div>`
}
