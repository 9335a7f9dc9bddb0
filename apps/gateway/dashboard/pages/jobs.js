import { html } from '../html.js'
import { useEffect, useMemo, useState } from '../lib/hooks.js'
import { count, plural } from '../format.js'
import { acts, filterOf } from '../job-acts.js'
import { useJobSearch } from '../job-search.js'
import { ActDialog } from '../parts/act-dialog.js'
import { Code, Empty, Loading, PageHead, Trouble } from '../parts/bits.js'
import { ExportLinks } from '../parts/export-links.js'
import { orderOf } from '../parts/list-page.js'
import { FiltersDialog } from '../parts/filters-dialog.js'
import { SubmitDialog } from '../parts/submit-dialog.js'
import { Pager, Table } from '../parts/table.js'
import { hrefOf, refine } from '../router.js'
import { useMayAct, useOwnGlobs } from '../state.js'
import { jobColumns } from './job-columns.js'
import { JobFilters } from './job-filters.js'

/** @typedef {import('../job-acts.js').Act} Act */

/** Pages of one state each, and the order of their times that they have first. */
const fixed =
  /** @type {Readonly<Record<string, { state: string, order: 'asc' | 'desc', title: string, hint: string, none: string }>>} */ ({
    scheduled: {
      state: 'scheduled',
      order: 'asc',
      title: 'Scheduled jobs',
      hint: 'Jobs that are due at a time to come.',
      none: 'A job with a time comes here until it is due: at of Faktory, SUBMIT_JOB_EPOCH of Gearman.',
    },
    retries: {
      state: 'retry',
      order: 'asc',
      title: 'Retries',
      hint: 'Jobs that failed and are due for another try.',
      none: 'A job that fails and has retries left waits here for its next try.',
    },
    dead: {
      state: 'dead',
      order: 'desc',
      title: 'Dead jobs',
      hint: 'Background jobs that failed for good. They stay for 180 days, 10,000 of a function.',
      none: 'A background job that fails for good comes here, to be looked at and queued once more.',
    },
  })

/** States whose jobs have a time by which they are listed. */
const timedStates = Object.values(fixed)

const filterNames = /** @type {const} */ ([
  'function',
  'queue',
  'state',
  'door',
  'older_than_seconds',
  'newer_than_seconds',
  'text',
  'unique',
  'handle',
  'jid',
  'batch',
  'error_type',
  'error_line',
])

const jobsPerPage = 50
const pollMs = 2_000

/** @param {import('./all.js').PageProps} props */
export function JobsPage({ route }) {
  const own = fixed[route.page]
  const words = Object.fromEntries(
    filterNames.map((name) => [name, route.query.get(name) ?? undefined]),
  )
  const filter = own ? { ...words, state: own.state } : words
  const cursor = route.query.get('cursor') ?? ''
  const mayAct = useMayAct()
  const [chosen, setChosen] = useState(/** @type {ReadonlySet<string>} */ (new Set()))
  const [areAll, setAll] = useState(false)
  const [act, setAct] = useState(/** @type {Act | undefined} */ (undefined))
  const [isSubmitting, setSubmitting] = useState(false)
  const [hasFilters, setFilters] = useState(false)
  const isCalm = chosen.size > 0 || cursor !== ''
  // A search in payloads goes through function after function.
  const timed = timedStates.find(({ state }) => state === filter['state'])
  const order = timed && !filter['text'] ? orderOf(route.query, timed.order) : undefined
  const { search, error, stage, isLong, busy, reload, stop, goOn } = useJobSearch(
    { ...filter, order: order ?? '', limit: jobsPerPage, cursor },
    isCalm ? 0 : pollMs,
  )
  const place = JSON.stringify(filter)
  useEffect(() => {
    setChosen(new Set())
    setAll(false)
  }, [place])
  const columns = useMemo(() => jobColumns(timed?.state), [timed?.state])

  const change = (/** @type {Readonly<Record<string, string>>} */ changes) =>
    refine(route, { cursor: undefined, ...changes })
  const toggle = (/** @type {readonly string[]} */ ids, /** @type {boolean} */ isOn) => {
    const all = new Set(chosen)
    for (const id of ids) {
      if (isOn) all.add(id)
      else all.delete(id)
    }
    setAll(false)
    setChosen(all)
  }
  const selection = areAll ? { filter: filterOf(filter) } : { jobs: [...chosen] }
  const jobs = search?.jobs ?? []
  const isNone = jobs.length === 0 && search?.cursor === null && cursor === ''
  return html`<div aria-busy=${busy}>
    <${PageHead} title=${own?.title ?? 'Jobs'} hint=${own?.hint ?? 'All jobs that are not finished, by whatever door they came.'}>
      ${
        mayAct &&
        html`<button type="button" disabled=${isNone} onClick=${() => setAll(true)}>
          Act on all that match
        </button>
        <button type="button" class="primary" onClick=${() => setSubmitting(true)}>New job</button>`
      }
      <button type="button" onClick=${() => setFilters(true)}>Saved filters</button>
    <//>
    <${JobFilters} filter=${filter} hasState=${!own} onChange=${change} />
    <${Trouble} error=${error} />
    ${!search && !error && html`<${Loading} />`}
    ${
      isLong &&
      html`<${Progress}
      search=${search}
      stage=${stage}
      stop=${stop}
      goOn=${goOn}
      reload=${reload}
    />`
    }
    ${
      search &&
      (jobs.length > 0
        ? html`<${Table}
          caption=${own?.title ?? 'Jobs'}
          columns=${columns}
          rows=${jobs}
          keyOf=${(/** @type {{ id: string }} */ { id }) => id}
          selection=${mayAct ? { chosen, toggle } : undefined}
          sorting=${order && { by: 'time', order }}
          onSort=${
            order &&
            ((/** @type {import('../parts/table.js').Sorting} */ { order: next }) =>
              change({ order: next }))
          }
        />`
        : isNone && html`<${NoJobs} filter=${filter} own=${own} />`)
    }
    ${
      search &&
      (jobs.length > 0 || search.cursor !== null || cursor !== '') &&
      html`<${Pager}
      words=${`${plural(jobs.length, 'job')} shown, ${count(search.lookedAt)} looked at${busy === 'false' ? '' : ' …'}`}
      isFirst=${cursor === ''}
      next=${stage === 'runs' ? null : search.cursor}
      onPage=${(/** @type {string} */ next) => refine(route, { cursor: next })}
    >
      <${ExportLinks} list="jobs" filter=${filter} />
    <//>`
    }
    ${
      mayAct &&
      (areAll || chosen.size > 0) &&
      html`<div class="bar" role="group" aria-label="Acts on the selection" data-acts>
      <b>${areAll ? 'All that match' : `${plural(chosen.size, 'job')} selected`}</b>
      <span class="grow"></span>
      ${Object.entries(acts).map(
        ([name, { label, isDanger }]) =>
          html`<button
          key=${name}
          type="button"
          class=${`small ${isDanger ? 'danger' : ''}`}
          onClick=${() => setAct(/** @type {Act} */ (name))}
        >
          ${label}
        </button>`,
      )}
      <button
        type="button"
        class="quiet small"
        onClick=${() => {
          setAll(false)
          setChosen(new Set())
        }}
      >
        Clear
      </button>
    </div>`
    }
    ${
      act &&
      html`<${ActDialog}
      act=${act}
      selection=${selection}
      onClose=${() => setAct(undefined)}
      onDone=${() => {
        setAct(undefined)
        setChosen(new Set())
        setAll(false)
        reload()
      }}
    />`
    }
    ${
      hasFilters &&
      html`<${FiltersDialog}
      href=${hrefOf(route.page, '', words)}
      onClose=${() => setFilters(false)}
    />`
    }
    ${isSubmitting && html`<${SubmitDialog} onClose=${() => setSubmitting(false)} />`}
  </div>`
}

/**
 * How far a search is that takes several calls.
 *
 * @param {object} props
 * @param {import('../job-search.js').Search} props.search
 * @param {'runs' | 'stopped' | 'done'} props.stage
 * @param {() => void} props.stop
 * @param {() => void} props.goOn
 * @param {() => void} props.reload
 */
function Progress({ search, stage, stop, goOn, reload }) {
  const { jobs, lookedAt, unsearched } = search
  const [opening, label, act] = /** @type {const} */ ({
    runs: ['Searching', 'Stop', stop],
    stopped: ['Stopped', 'Go on', goOn],
    done: ['Searched', 'Search again', reload],
  })[stage]
  const long = unsearched > 0 ? `, ${plural(unsearched, 'payload')} too long to search` : ''
  return html`<p class="notice" data-search-stage=${stage}>
    <span role="status">
      ${`${opening}: ${plural(lookedAt, 'job')} looked at, ${count(jobs.length)} found${long}.`}
    </span>
    <span class="grow"></span>
    <button type="button" class="small" onClick=${act}>${label}</button>
  </p>`
}

/**
 * @param {object} props
 * @param {Readonly<Record<string, string | undefined>>} props.filter
 * @param {{ none: string, title: string } | undefined} props.own
 */
function NoJobs({ filter, own }) {
  const yours = useOwnGlobs() === undefined ? '' : ' of yours'
  const asked = Object.entries(filter).filter(
    ([name, value]) => value && !(own && name === 'state'),
  )
  if (asked.length > 0) {
    return html`<${Empty} title="No job matches">
      <p>Take a filter away, or look at <a href=${hrefOf('jobs')}>all jobs</a>.</p>
      ${
        filter['text'] &&
        html`<p>
        <a href=${hrefOf('search', '', { q: filter['text'] })}>Search names</a> for it: ids, handles, jids, functions, queues.
      </p>`
      }
    <//>`
  }
  if (own) {
    return html`<${Empty} title=${`No ${own.title.toLowerCase()}${yours}`}><p>${own.none}</p><//>`
  }
  return html`<${Empty} title=${`No jobs${yours} at the moment`}>
    <p>Send one with any client, for example:</p>
    <p><${Code}>gearman -b -f mail 'hello'<//></p>
    <p>Finished jobs leave at once, unless a route keeps them.</p>
  <//>`
}
