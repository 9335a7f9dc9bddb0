import { html } from '../html.js'
import { useMemo } from '../lib/hooks.js'
import { brief, count, duration, plural, rate, stamp } from '../format.js'
import { Code, Empty, Name, NotShown, PageHead, Switch, Text, When } from '../parts/bits.js'
import { Figure } from '../parts/figures.js'
import { HistoryPlots } from '../parts/history-plots.js'
import { useTrends } from '../parts/list-page.js'
import { Plot } from '../parts/plot.js'
import { Sparkline } from '../parts/sparkline.js'
import { Table } from '../parts/table.js'
import { TroubleList } from '../parts/troubles.js'
import { WaitWords } from '../parts/waits.js'
import { hrefOf, refine } from '../router.js'
import { useLive, useOwnGlobs } from '../state.js'

/** @typedef {import('../types.d.ts').Overview} Overview */
/** @typedef {import('../types.d.ts').FunctionEntry} FunctionEntry */

const spans = /** @type {const} */ ([
  ['live', 'Live'],
  ['hour', 'Hour'],
  ['day', 'Day'],
])

/** @param {import('./all.js').PageProps} props */
export function OverviewPage({ route }) {
  const live = useLive()
  const { latest } = live
  const own = useOwnGlobs()
  const span = route.query.get('span') ?? 'live'
  const hint =
    own === undefined ? 'The whole store' : html`Functions and queues of <${Text} text=${own} />`
  return html`<div>
    <${PageHead}
      title="Overview"
      hint=${html`${hint}, second by second, at whatever gateway you look.`}
    >
      <${Switch}
        label="Plots of"
        value=${span}
        options=${spans}
        onChange=${(/** @type {string} */ value) => refine(route, { span: value })}
      />
    <//>
    ${
      latest
        ? html`<${Connection} live=${live} />
        <div class=${`stack ${live.trouble ? 'lost' : ''}`}>
          <${TroubleList} />
          <${Tiles} overview=${latest} live=${live} />
          ${
            span === 'live'
              ? html`<${LivePlots} live=${live} />`
              : html`${own !== undefined && html`<p class="muted">The plots are of the whole store.</p>`}
              <${HistoryPlots} span=${span === 'day' ? 'day' : 'hour'} />`
          }
          <${Busiest} overview=${latest} />
        </div>`
        : html`<${NotShown} reading=${live.trouble ?? unread} none="No figures" />`
    }
  </div>`
}

const unread = { error: undefined, code: undefined }

/** Words for what is lost, by the code of the refusal. */
const losses = /** @type {Readonly<Record<string, string>>} */ ({
  unreachable: 'The gateway is lost',
  store_unavailable: 'The store is lost',
  not_running: 'The store is lost',
})

/** @param {{ live: import('../live.js').Live }} props */
function Connection({ live: { state, trouble, nowMs, lostAtMs = nowMs } }) {
  if (trouble) {
    const since = new Date(lostAtMs).toISOString()
    return html`<p class="notice bad" role="alert" data-lost=${trouble.code}>
      <span>
        <b>${losses[trouble.code] ?? 'The figures are lost'}</b> since ${stamp(since)}${' '}(<${When} time=${since} />). <${Text} text=${trouble.error} /> The page shows how it was.
      </span>
    </p>`
  }
  return (
    state === 'asked' &&
    html`<p class="notice warn" role="status">
      The gateway has no room for another live view: this page asks for its figures every 5 seconds.
    </p>`
  )
}

/**
 * @param {object} props
 * @param {Overview} props.overview
 * @param {import('../live.js').Live} props.live
 */
function Tiles({ overview, live }) {
  const { waiting, running, scheduled, retry, dead, oldest_waiting_seconds: oldest } = overview
  /** @type {readonly (readonly [string, string, number, string, Readonly<Record<string, string>>, string])[]} */
  const tiles = [
    [
      'Waiting',
      'waiting',
      waiting,
      'jobs',
      { state: 'waiting' },
      oldest > 0 ? `oldest ${duration(oldest)}` : 'nothing is late',
    ],
    [
      'Running',
      'running',
      running,
      'jobs',
      { state: 'running' },
      `${rate(live.rateOf('completed_total'))} completed`,
    ],
    ['Scheduled', 'scheduled', scheduled, 'scheduled', {}, 'due later'],
    [
      'Retries',
      'retry',
      retry,
      'retries',
      {},
      `${rate(live.rateOf('failed_total') + live.rateOf('died_total'))} failed for good`,
    ],
    ['Dead', 'dead', dead, 'dead', {}, dead > 0 ? 'failed for good' : 'none'],
    [
      'Functions',
      'neutral',
      overview.functions,
      'functions',
      {},
      `${plural(overview.queues, 'queue')}, ${plural(overview.nodes, 'node')}`,
    ],
  ]
  return html`<div class="tiles">
    ${tiles.map(
      ([label, tone, value, page, query, note]) =>
        html`<a class="tile" key=${label} href=${hrefOf(page, '', query)} data-tile=${tone}>
        <span class="label"><i class=${`dot ${tone}`}></i>${label}</span>
        <span class="value" title=${count(value)}>${brief(value)}</span>
        <span class="note">${note}</span>
      </a>`,
    )}
  </div>`
}

/** @param {{ live: import('../live.js').Live }} props */
function LivePlots({ live }) {
  const { samples } = live
  const drawn = useMemo(() => {
    const times = samples.map(({ at }) => Date.parse(at) / 1000)
    return {
      times,
      waiting: [
        { label: 'Waiting', tone: 'waiting', values: samples.map(({ waiting }) => waiting) },
      ],
      running: [
        { label: 'Running', tone: 'running', values: samples.map(({ running }) => running) },
      ],
      rates: [
        { label: 'Submitted', tone: 'waiting', values: live.ratesOf('submitted_total') },
        { label: 'Completed', tone: 'running', values: live.ratesOf('completed_total') },
        { label: 'Died', tone: 'dead', values: live.ratesOf('died_total') },
        { label: 'Failed', tone: 'retry', values: live.ratesOf('failed_total') },
      ],
    }
  }, [samples])
  return html`<div class="columns thirds">
    <div class="panel"><div class="inside">
      <${Plot} title="Jobs a second" seconds=${drawn.times.slice(1)} lines=${drawn.rates} format=${rate} />
    </div></div>
    <div class="panel"><div class="inside">
      <${Plot} title="Waiting jobs" seconds=${drawn.times} lines=${drawn.waiting} format=${brief} />
    </div></div>
    <div class="panel"><div class="inside">
      <${Plot} title="Running jobs" seconds=${drawn.times} lines=${drawn.running} format=${brief} />
    </div></div>
  </div>`
}

const keyOf = (/** @type {FunctionEntry} */ { lane }) => lane

/** @param {{ overview: Overview }} props */
function Busiest({ overview }) {
  const { busiest } = overview
  const trends = useTrends(busiest, keyOf, ({ waiting }) => waiting)
  /** @type {readonly import('../parts/table.js').Column<FunctionEntry>[]} */
  const columns = [
    {
      id: 'function',
      label: 'Function',
      isMain: true,
      cell: ({ function: fn, queue, waits_for: reason }) =>
        html`<a href=${hrefOf('jobs', '', { function: fn, queue })}><${Name} name=${fn} /></a>
        <span class="under">in <${Text} text=${queue} /></span>
        <${WaitWords} reason=${reason} />`,
    },
    {
      id: 'waiting',
      label: 'Waiting',
      isNumber: true,
      cell: ({ waiting }) => html`<${Figure} value=${waiting} />`,
    },
    {
      id: 'running',
      label: 'Running',
      isNumber: true,
      cell: ({ running }) => html`<${Figure} value=${running} />`,
    },
    {
      id: 'workers',
      label: 'Workers',
      isNumber: true,
      cell: ({ workers }) => html`<${Figure} value=${workers} />`,
    },
    {
      id: 'oldest',
      label: 'Oldest',
      isNumber: true,
      cell: ({ oldest_waiting_seconds: seconds }) => (seconds > 0 ? duration(seconds) : '–'),
    },
    {
      id: 'trend',
      label: 'Trend',
      isNumber: true,
      cell: (entry) =>
        html`<${Sparkline} values=${trends.of(keyOf(entry))} label=${`Waiting: ${count(entry.waiting)}`} />`,
    },
  ]
  return html`<section class="panel">
    <header><h2>Functions with the most to do</h2><a href=${hrefOf('functions', '', { sort: 'waiting', order: 'desc' })}>All functions</a></header>
    ${
      busiest.length > 0
        ? html`<${Table}
          caption="Functions with the most to do"
          columns=${columns}
          keyOf=${keyOf}
          rows=${busiest}
        />`
        : overview.functions > 0
          ? html`<${Empty} title="Nothing waits and nothing runs" />`
          : html`<${Empty} title="No jobs so far">
            <p>Send one with any Gearman or Faktory client, for example:</p>
            <p><${Code}>gearman -b -f mail 'hello'<//></p>
          <//>`
    }
  </section>`
}
