import { useState } from './lib/hooks.js'
import { readKept, keep } from './kept.js'

const choices = /** @type {const} */ ({ system: 'System', light: 'Light', dark: 'Dark' })
/** @typedef {keyof typeof choices} Theme */

const dark = globalThis.matchMedia('(prefers-color-scheme: dark)')

/** Sent to the window when the colours have changed. */
export const themeEvent = 'crossgear-theme'

/** Value and words of each theme. */
export const themes = Object.entries(choices)

/** The colours of the page follow the viewer's choice, or the system's where there is none. */
export function startTheme() {
  apply()
  dark.addEventListener('change', apply)
}

/** @returns {readonly [Theme, (theme: string) => void]} */
export function useTheme() {
  const [theme, setTheme] = useState(chosen())
  const choose = (/** @type {string} */ next) => {
    keep('theme', next)
    setTheme(chosen())
    apply()
  }
  return [theme, choose]
}

/** @returns {Theme} */
function chosen() {
  const word = readKept('theme')
  return word === 'light' || word === 'dark' ? word : 'system'
}

function apply() {
  const theme = chosen()
  const isDark = theme === 'system' ? dark.matches : theme === 'dark'
  document.documentElement.dataset['theme'] = isDark ? 'dark' : 'light'
  globalThis.dispatchEvent(new Event(themeEvent))
}
