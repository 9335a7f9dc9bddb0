import { html } from '../html.js'
import { useEffect, useRef, useState } from '../lib/hooks.js'
import { wordsOf } from '../api.js'
import { count, plural } from '../format.js'
import { acts, nothingDone, runAct } from '../job-acts.js'
import { useShared } from '../state.js'
import { Form, Trouble } from './bits.js'
import { Dialog } from './dialog.js'

/** @typedef {import('../job-acts.js').Tally} Tally */

/**
 * An act on jobs: counts first what it would do, then does it when told to.
 *
 * @param {object} props
 * @param {import('../job-acts.js').Act} props.act
 * @param {import('../job-acts.js').Selection} props.selection
 * @param {import('../lib/preact.js').ComponentChildren} [props.means] what it means for this job
 * @param {() => void} props.onClose
 * @param {() => void} props.onDone
 */
export function ActDialog({ act, selection, means, onClose, onDone }) {
  const { api, say } = useShared()
  const { label, past, isDanger, means: usual } = acts[act]
  const [phase, setPhase] = useState(
    /** @type {'ask' | 'count' | 'ready' | 'run'} */ (act === 'move' ? 'ask' : 'count'),
  )
  const [tally, setTally] = useState(nothingDone)
  const [error, setError] = useState(/** @type {string | undefined} */ (undefined))
  const [toQueue, setQueue] = useState('')
  const abort = useRef(new AbortController())
  useEffect(() => () => abort.current.abort(), [])

  const run = async (/** @type {boolean} */ isDry) => {
    const { signal } = abort.current
    setPhase(isDry ? 'count' : 'run')
    setTally(nothingDone)
    setError(undefined)
    try {
      const order = { api, act, selection, toQueue, isDry, signal, onPiece: setTally }
      const whole = await runAct(order)
      if (signal.aborted) return
      if (isDry) {
        setPhase('ready')
        return
      }
      say(`${plural(whole.done, 'job')} ${past}.`)
      onDone()
    } catch (refusal) {
      setError(wordsOf(refusal))
      setPhase('ready')
    }
  }
  useEffect(() => {
    if (phase === 'count') void run(true)
  }, [])

  return html`<${Dialog} title=${`${label}${'filter' in selection ? ': all that match' : ''}`} onClose=${onClose}>
    <p>${means ?? usual}</p>
    ${
      act === 'move' &&
      html`<${Form} onSubmit=${() => void run(true)}>
      <label class="field">
        <span>To the queue</span>
        <input
          type="text"
          required
          pattern="[a-zA-Z0-9._\\-]+"
          maxlength="255"
          value=${toQueue}
          onInput=${(/** @type {InputEvent} */ event) => {
            setQueue(/** @type {HTMLInputElement} */ (event.currentTarget).value)
            setPhase('ask')
          }}
        />
      </label>
      ${phase === 'ask' && html`<footer><button type="submit">Count the jobs</button></footer>`}
    <//>`
    }
    ${phase !== 'ask' && html`<${Count} tally=${tally} phase=${phase} past=${past} />`}
    <${Trouble} error=${error} />
    ${
      phase !== 'ask' &&
      html`<footer>
      <button type="button" onClick=${onClose}>${phase === 'run' ? 'Stop' : 'Back'}</button>
      <button
        type="button"
        class=${isDanger ? 'danger' : 'primary'}
        disabled=${phase !== 'ready' || (tally.done === 0 && tally.isWhole)}
        onClick=${() => void run(false)}
      >
        ${label}
      </button>
    </footer>`
    }
  <//>`
}

/** @param {{ tally: Tally, phase: string, past: string }} props */
function Count({ tally, phase, past }) {
  const isMore = !tally.isWhole && phase === 'ready'
  const number = isMore && tally.total !== null ? Math.max(tally.total, tally.done) : tally.done
  const words = {
    count: 'counted so far',
    ready: `${tally.done === 1 ? 'job' : 'jobs'} would be ${past}`,
    run: `${past} so far`,
  }[phase]
  return html`<div role="status" data-tally=${phase}>
    <span class="big-number">${isMore && tally.total === null ? `${count(number)} +` : count(number)}</span>
    ${' '}<span class="muted">${words}</span>
    ${
      tally.skipped.length > 0 &&
      html`<ul class="muted">
      ${tally.skipped.map(
        ({ reason, jobs }) => html`<li key=${reason}>${plural(jobs, 'job')} left: ${reason}</li>`,
      )}
    </ul>`
    }
  </div>`
}
