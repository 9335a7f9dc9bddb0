import { h } from './lib/preact.js'
import htm from './lib/htm.js'

/**
 * Templates of elements. Values become text nodes or attributes, never markup.
 *
 * @type {(strings: TemplateStringsArray, ...values: unknown[]) => import('./lib/preact.js').VNode}
 */
export const html = htm.bind(h)
