import { html } from '../html.js'
import { useEffect, useRef } from '../lib/hooks.js'

/** @typedef {import('../lib/preact.js').ComponentChildren} Children */

/**
 * A dialog over the page. The browser keeps the focus in it, and Escape closes it.
 *
 * @param {object} props
 * @param {string} props.title
 * @param {() => void} props.onClose
 * @param {Children} [props.children]
 * @param {boolean} [props.isWide]
 */
export function Dialog({ title, onClose, children, isWide = false }) {
  const element = useRef(/** @type {HTMLDialogElement | null} */ (null))
  useEffect(() => {
    const before = document.activeElement
    element.current?.showModal()
    firstOf(element.current)?.focus()
    return () => {
      if (before instanceof HTMLElement) before.focus()
    }
  }, [])
  return html`<dialog
    ref=${element}
    class=${isWide ? 'wide' : ''}
    aria-label=${title}
    onClose=${onClose}
    onClick=${(/** @type {MouseEvent} */ event) => {
      if (event.target === element.current) onClose()
    }}
  >
    <div class="dialog-body">
      <header>
        <h2 tabindex="-1">${title}</h2>
        <button type="button" class="quiet" aria-label="Close" onClick=${onClose}>✕</button>
      </header>
      ${children}
    </div>
  </dialog>`
}

/**
 * Takes the focus: the first field, or else the button that changes nothing. A space on the cross would close the dialog.
 *
 * @param {HTMLElement | null} dialog
 * @returns {HTMLElement | null | undefined}
 */
function firstOf(dialog) {
  const wanted = ['input:enabled, select:enabled, textarea:enabled', 'footer button', 'h2']
  for (const selector of wanted) {
    const found = dialog?.querySelector(selector)
    if (found instanceof HTMLElement) return found
  }
  return dialog
}

/**
 * Asks before something is done.
 *
 * @param {object} props
 * @param {string} props.title
 * @param {string} props.act the words of the button
 * @param {boolean} [props.isDanger]
 * @param {boolean} [props.isBusy]
 * @param {() => void} props.onConfirm
 * @param {() => void} props.onClose
 * @param {Children} [props.children] what it means
 */
export function Confirm({ title, act, isDanger, isBusy, onConfirm, onClose, children }) {
  return html`<${Dialog} title=${title} onClose=${onClose}>
    ${children}
    <footer>
      <button type="button" onClick=${onClose}>Back</button>
      <button
        type="button"
        class=${isDanger ? 'danger' : 'primary'}
        disabled=${isBusy}
        onClick=${onConfirm}
      >
        ${act}
      </button>
    </footer>
  <//>`
}
