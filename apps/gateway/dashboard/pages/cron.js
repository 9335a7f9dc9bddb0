import { html } from '../html.js'
import { Badge, Code, Empty, Loading, Name, PageHead, Trouble, When } from '../parts/bits.js'
import { Table } from '../parts/table.js'
import { hrefOf } from '../router.js'
import { useRead } from '../state.js'

/** @typedef {import('../types.d.ts').Cron} Cron */
/** @typedef {Cron['cron'][number]} Entry */

/** @type {readonly import('../parts/table.js').Column<Entry>[]} */
const columns = [
  {
    ...{ id: 'name', label: 'Entry', isMain: true },
    cell: ({ name, source }) => html`<${Name} name=${name} /> ${' '}
      <${Badge}>${source === 'file' ? 'from the file' : 'added'}<//>`,
  },
  {
    ...{ id: 'schedule', label: 'Schedule' },
    cell: ({ schedule, timezone }) => html`<span class="mono">${schedule}</span>
      <span class="under">${timezone}</span>`,
  },
  { id: 'job', label: 'Job', cell: ({ job }) => html`<${JobCell} job=${job} />` },
  {
    ...{ id: 'last', label: 'Last run', isNumber: true },
    cell: ({ last_run: time }) => html`<${When} time=${time} />`,
  },
  {
    ...{ id: 'next', label: 'Next run', isNumber: true },
    cell: ({ next_run: time }) => html`<${When} time=${time} />`,
  },
]

export function CronPage() {
  /** @type {import('../state.js').Reading<Cron>} */
  const { data, error } = useRead('/cron', {}, 5_000)
  return html`<div>
    <${PageHead} title="Cron" hint="Jobs that are pushed by the clock, once whatever the number of gateways." />
    <${Trouble} error=${error} />
    ${!data && !error && html`<${Loading} />`}
    ${
      data &&
      (data.cron.length > 0
        ? html`<${Table}
          caption="Cron entries"
          columns=${columns}
          rows=${data.cron}
          keyOf=${(/** @type {Entry} */ { name }) => name}
        />`
        : html`<${Empty} title="No entries">
          <p>Entries stand in the file of <${Code}>--config<//> as <${Code}>[[cron]]<//>, or are added with a POST to <${Code}>/cron<//>.</p>
        <//>`)
    }
  </div>`
}

/** @param {{ job: unknown }} props */
function JobCell({ job }) {
  const { jobtype, function: fn } = /** @type {Readonly<Record<string, unknown>>} */ (job ?? {})
  const name = [jobtype, fn].find((word) => typeof word === 'string')
  const text = JSON.stringify(job)
  return html`${
    typeof name === 'string' &&
    html`<a href=${hrefOf('jobs', '', { function: name })}><${Name} name=${name} /></a>`
  }<span class="under mono" title=${text}>${text}</span>`
}
