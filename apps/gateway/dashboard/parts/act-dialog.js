import { html } from '../html.js'
import { useEffect, useRef, useState } from '../lib/hooks.js'
import { wordsOf } from '../api.js'
import { count, plural } from '../format.js'
import { acts, nothingDone, restoreJobs, runAct, undoWords } from '../job-acts.js'
import { useShared } from '../state.js'
import { Form, Trouble } from './bits.js'
import { Dialog } from './dialog.js'
import { NameField } from './name-field.js'

/** @typedef {import('../job-acts.js').Tally} Tally */

/**
 * An act on jobs: counts first what it would do, then does it once the user confirms.
 *
 * @param {object} props
 * @param {import('../job-acts.js').Act} props.act
 * @param {import('../job-acts.js').Selection} props.selection
 * @param {import('../lib/preact.js').ComponentChildren} [props.means] what it means for this job
 * @param {string} [props.title]
 * @param {string} [props.label] of the button
 * @param {number} [props.total] the jobs that match, where they are known: they are not counted first
 * @param {string} [props.said] when all is done, after the count
 * @param {(name: string | undefined) => Promise<unknown>} [props.after] the rest of the act, which is done even where no job matches
 * @param {() => void} props.onClose
 * @param {() => void} props.onDone
 */
export function ActDialog({ act, selection, means, onClose, onDone, ...more }) {
  const { api, say } = useShared()
  const { past, isDanger, means: usual } = acts[act]
  const { label = acts[act].label, said = '', after } = more
  const title = more.title ?? `${label}${'filter' in selection ? ': all that match' : ''}`
  const first = act === 'move' ? 'ask' : more.total === undefined ? 'count' : 'ready'
  const [phase, setPhase] = useState(
    /** @type {'ask' | 'count' | 'ready' | 'run' | 'stop'} */ (first),
  )
  const [tally, setTally] = useState({ ...nothingDone, total: more.total ?? null })
  const [error, setError] = useState(/** @type {string | undefined} */ (undefined))
  const [toQueue, setQueue] = useState('')
  const abort = useRef(new AbortController())
  const latest = useRef(nothingDone)
  useEffect(() => () => abort.current.abort(), [])
  const onPiece = (/** @type {Tally} */ next) => {
    latest.current = next
    setTally(next)
  }
  /** The call that is under way ends first: what it did is counted. */
  const stop = () => {
    abort.current.abort()
    setPhase('stop')
  }

  const undo = async (/** @type {readonly string[]} */ names) => {
    try {
      say(await restoreJobs(api, names))
    } catch (refusal) {
      say(wordsOf(refusal), 'bad')
    }
  }

  const run = async (/** @type {boolean} */ isDry) => {
    const { signal } = abort.current
    const { done: expected, isWhole, total } = tally
    setPhase(isDry ? 'count' : 'run')
    onPiece(nothingDone)
    setError(undefined)
    try {
      const order = { api, act, selection, toQueue, isDry, signal, onPiece }
      const whole = await runAct(order)
      if (isDry) {
        if (!signal.aborted) setPhase('ready')
        return
      }
      if (whole.isWhole) await after?.(whole.name)
      const all = isWhole ? expected : Math.max(total ?? 0, expected)
      say(
        whole.isWhole
          ? `${plural(whole.done, 'job')} ${past}.${said}${undoWords(whole)}`
          : `Stopped: ${count(whole.done)} of ${count(all)}${isWhole || total !== null ? '' : ' or more'} ${past}.${undoWords(whole)}`,
        'good',
        whole.undo.length > 0 ? { label: 'Undo', run: () => void undo(whole.undo) } : undefined,
      )
      onDone()
    } catch (refusal) {
      const { done } = latest.current
      const before = isDry || done === 0 ? '' : `${plural(done, 'job')} ${past}, then: `
      const words = `${before}${wordsOf(refusal)}`
      if (signal.aborted) {
        if (isDry) return
        // Escape may have closed the dialog.
        say(words, 'bad')
        onDone()
        return
      }
      setError(words)
      setPhase('ready')
    }
  }
  useEffect(() => {
    if (phase === 'count') void run(true)
  }, [])

  return html`<${Dialog} title=${title} onClose=${phase === 'run' ? stop : phase === 'stop' ? () => undefined : onClose}>
    <p>${means ?? usual}</p>
    ${
      act === 'move' &&
      html`<${Form} onSubmit=${() => void run(true)}>
      <${NameField}
        label="To the queue"
        name="to-queue"
        kind="queue"
        value=${toQueue}
        onInput=${(/** @type {string} */ queue) => {
          setQueue(queue)
          setPhase('ask')
        }}
        required
      />
      ${phase === 'ask' && html`<footer><button type="submit">Count the jobs</button></footer>`}
    <//>`
    }
    ${phase !== 'ask' && html`<${Count} tally=${tally} phase=${phase} past=${past} />`}
    <${Trouble} error=${error} />
    ${
      phase !== 'ask' &&
      html`<footer>
      <button
        type="button"
        disabled=${phase === 'stop'}
        onClick=${phase === 'run' ? stop : onClose}
      >
        ${phase === 'run' ? 'Stop' : phase === 'stop' ? 'Stopping' : 'Back'}
      </button>
      <button
        type="button"
        class=${isDanger ? 'danger' : 'primary'}
        disabled=${phase !== 'ready' || (tally.done === 0 && tally.isWhole && !after)}
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
    stop: `${past} so far`,
  }[phase]
  return html`<div role="status" data-tally=${phase}>
    <span class="big-number">${isMore && tally.total === null ? `${count(number)} +` : count(number)}</span>
    ${' '}<span class="muted">${words}</span>
    ${
      tally.skipped.length > 0 &&
      html`<ul class="muted">
      ${tally.skipped.map(
        ({ reason, jobs }) =>
          html`<li key=${reason}>${plural(jobs, 'job')} not changed: ${jobs === 1 ? 'it' : 'each'} ${reason}</li>`,
      )}
    </ul>`
    }
  </div>`
}
