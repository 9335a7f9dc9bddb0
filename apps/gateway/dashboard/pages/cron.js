import { html } from '../html.js'
import { useState } from '../lib/hooks.js'
import { Badge, Code, Empty, Loading, Name, PageHead, Text, Trouble, When } from '../parts/bits.js'
import { CronRuns } from '../parts/runs.js'
import { Table } from '../parts/table.js'
import { CronDialog } from '../parts/cron-dialog.js'
import { visible } from '../payload-text.js'
import { hrefOf } from '../router.js'
import { useMayAct, useOwnGlobs, useRead } from '../state.js'
import { useOrders } from '../parts/confirm-act.js'

/** @typedef {import('../types.d.ts').Cron} Cron */
/** @typedef {Cron['cron'][number]} Entry */

/** @type {readonly import('../parts/table.js').Column<Entry>[]} */
const columns = [
  {
    id: 'name',
    label: 'Entry',
    isMain: true,
    orderBy: ({ name }) => name,
    cell: ({ name, source, is_paused: isPaused }) => html`<a href=${hrefOf('cron', name)}>
        <${Name} name=${name} />
      </a> ${' '}
      <${Badge}>${source === 'file' ? 'from the file' : 'added'}<//>
      ${isPaused && html`${' '}<${Badge} tone="retry">Paused<//>`}`,
  },
  {
    id: 'schedule',
    label: 'Schedule',
    cell: ({ schedule, timezone }) => html`<span class="mono">${schedule}</span>
      <span class="under">${timezone}</span>`,
  },
  { id: 'job', label: 'Job', cell: ({ job }) => html`<${JobCell} job=${job} />` },
  {
    id: 'last',
    label: 'Last run',
    isNumber: true,
    orderBy: ({ last_run: time }) => time,
    cell: ({ last_run: time }) => html`<${When} time=${time} />`,
  },
  {
    id: 'next',
    label: 'Next run',
    isNumber: true,
    orderBy: ({ next_run: time }) => time,
    cell: ({ next_run: time }) => html`<${When} time=${time} />`,
  },
]

/**
 * @param {Entry} entry
 * @returns {import('../parts/confirm-act.js').Order}
 */
function runOf({ name }) {
  return {
    title: 'Run now',
    label: 'Run now',
    path: '/cron/run',
    body: { entry: name },
    said: 'The job is pushed.',
    means: html`<p><b><${Name} name=${name} /></b></p>
      <p>Its job is pushed once, now. The schedule goes on as before, and a pause stays.</p>`,
  }
}

/**
 * @param {Entry} entry
 * @returns {import('../parts/confirm-act.js').Order}
 */
function pauseOf({ name, is_paused: isPaused }) {
  const label = isPaused ? 'Resume' : 'Pause'
  return {
    title: `${label} the entry`,
    label,
    path: isPaused ? '/cron/resume' : '/cron/pause',
    body: { entries: [name] },
    said: isPaused ? 'The entry is resumed.' : 'The entry is paused.',
    means: html`<p><b><${Name} name=${name} /></b></p>
      <p>${
        isPaused
          ? 'Its job is pushed again from the next time on.'
          : 'No gateway pushes its job until it is resumed. Times that pass meanwhile are skipped.'
      }</p>`,
  }
}

/**
 * @param {Entry} entry
 * @returns {import('../parts/confirm-act.js').Order}
 */
function removalOf({ name }) {
  return {
    title: 'Remove the entry',
    label: 'Remove',
    path: '/cron/remove',
    isDanger: true,
    body: { entries: [name] },
    said: 'The entry is removed.',
    means: html`<p><b><${Name} name=${name} /></b></p>
      <p>No gateway pushes its job any more. Jobs that it has pushed stay.</p>`,
  }
}

/** @param {import('./all.js').PageProps} props */
export function CronPage({ route }) {
  return route.id === '' ? html`<${CronEntries} />` : html`<${CronRuns} name=${route.id} />`
}

function CronEntries() {
  /** @type {import('../state.js').Reading<Cron>} */
  const { data, error, reload } = useRead('/cron', {}, 5_000)
  const mayAct = useMayAct()
  const isPart = useOwnGlobs() !== undefined
  const { ask, dialog } = useOrders(reload)
  const [edited, setEdited] = useState(/** @type {Entry | 'new' | undefined} */ (undefined))
  /** @type {import('../parts/table.js').Column<Entry>} */
  const acts = {
    id: 'acts',
    label: 'Acts',
    isHidden: true,
    isNumber: true,
    cell: (entry) => html`<span class="acts">
      <button type="button" class="small" onClick=${() => ask(runOf(entry))}>Run now</button>
      <button type="button" class="small" onClick=${() => ask(pauseOf(entry))}>
        ${entry.is_paused ? 'Resume' : 'Pause'}
      </button>
      ${
        entry.source === 'added' &&
        html`<button type="button" class="small" onClick=${() => setEdited(entry)}>Edit</button>
          <button type="button" class="small danger" onClick=${() => ask(removalOf(entry))}>
            Remove
          </button>`
      }
    </span>`,
  }
  return html`<div>
    <${PageHead} title="Cron" hint="Cron jobs: each is pushed once, whatever the number of gateways.">
      ${
        mayAct &&
        html`<button type="button" class="primary" onClick=${() => setEdited('new')}>
        New entry
      </button>`
      }
    <//>
    <${Trouble} error=${error} />
    ${!data && !error && html`<${Loading} />`}
    ${
      data &&
      (data.cron.length > 0
        ? html`<${Table}
          caption="Cron entries"
          columns=${mayAct ? [...columns, acts] : columns}
          rows=${data.cron}
          keyOf=${(/** @type {Entry} */ { name }) => name}
        />`
        : html`<${Empty} title=${isPart ? 'No entries of yours' : 'No entries'}>
          <p>Entries stand in the file of <${Code}>--config<//> as <${Code}>[[cron]]<//>, or are added here.</p>
        <//>`)
    }
    ${dialog}
    ${
      edited &&
      html`<${CronDialog}
        entry=${edited === 'new' ? undefined : edited}
        onClose=${() => setEdited(undefined)}
        onDone=${() => {
          setEdited(undefined)
          reload()
        }}
      />`
    }
  </div>`
}

/** @param {{ job: unknown }} props */
function JobCell({ job }) {
  const { type: name, queue, args } = /** @type {Readonly<Record<string, unknown>>} */ (job ?? {})
  return html`${
    typeof name === 'string' &&
    html`<a href=${hrefOf('jobs', '', { function: name })}><${Name} name=${name} /></a>`
  }${typeof queue === 'string' && html`<span class="under">in <${Text} text=${queue} /></span>`}
    <span class="under mono short" title=${visible(JSON.stringify(job))}>
      <${Text} text=${JSON.stringify(args ?? [])} />
    </span>`
}
