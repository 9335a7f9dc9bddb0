/** Keys and their effects; `?` shows it. */
export const keys = /** @type {const} */ ([
  ['/', 'Search everything'],
  ['j', 'Next row'],
  ['k', 'Row before'],
  ['Enter', 'Open the row'],
  ['x', 'Select the row'],
  ['a', 'Acts on the selection'],
  ['Esc', 'Leave a field, close a dialog'],
  ['?', 'Show these keys'],
])

/**
 * @param {() => void} onHelp
 * @returns {() => void} ends it
 */
export function listenToKeys(onHelp) {
  const acts = /** @type {Readonly<Record<string, () => void>>} */ ({
    '/': focusSearch,
    j: () => moveRow(1),
    k: () => moveRow(-1),
    x: pickRow,
    a: focusActs,
    '?': onHelp,
  })
  const listener = (/** @type {KeyboardEvent} */ event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return
    if (event.key === 'Escape' && isField(event.target)) {
      if (event.target instanceof HTMLElement) event.target.blur()
      return
    }
    if (isField(event.target) || document.querySelector('dialog[open]')) return
    const act = Object.hasOwn(acts, event.key) ? acts[event.key] : undefined
    if (!act) return
    event.preventDefault()
    act()
  }
  document.addEventListener('keydown', listener)
  return () => document.removeEventListener('keydown', listener)
}

/** @param {EventTarget | null} target */
function isField(target) {
  return (
    target instanceof HTMLElement &&
    target.matches('input:not([type="checkbox"]), textarea, select')
  )
}

function focusSearch() {
  const field = document.querySelector('[data-search-all]')
  if (field instanceof HTMLInputElement) field.select()
}

/** @param {1 | -1} step */
function moveRow(step) {
  const rows = [...document.querySelectorAll('[data-row]')]
  const at = rows.findIndex((row) => row.contains(document.activeElement))
  const next = rows[at < 0 ? (step > 0 ? 0 : rows.length - 1) : at + step]
  const target = next?.querySelector('.main a') ?? next?.querySelector('a, button, input')
  if (!(target instanceof HTMLElement)) return
  target.focus()
  next?.scrollIntoView({ block: 'nearest' })
}

/** Leads from a row to what can be done with the selected ones. */
export function focusActs() {
  const button = document.querySelector('[data-acts] button')
  if (button instanceof HTMLElement) button.focus()
}

function pickRow() {
  const row = document.activeElement?.closest('[data-row]')
  const box = row?.querySelector('input[type="checkbox"]')
  if (box instanceof HTMLInputElement) box.click()
}
