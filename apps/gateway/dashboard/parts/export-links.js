import { apiUrl } from '../api.js'
import { html } from '../html.js'

const formats = /** @type {const} */ ([
  ['csv', 'CSV'],
  ['ndjson', 'NDJSON'],
])

/**
 * Links that save a whole list, with its filter and order, as a file.
 *
 * @param {object} props
 * @param {string} props.list
 * @param {Readonly<Record<string, string | undefined>>} props.filter
 */
export function ExportLinks({ list, filter }) {
  const given = Object.entries(filter).flatMap(([name, value]) => (value ? [[name, value]] : []))
  return html`<span class="exports">
    Export:
    ${formats.map(([format, words]) => {
      const query = new URLSearchParams([...given, ['format', format]])
      return html`${' '}<a
        key=${format}
        href=${apiUrl(`/export/${list}?${query}`)}
        download
        title=${`All that match, as ${words}: a million rows at most, without payloads`}
      >
        ${words}
      </a>`
    })}
  </span>`
}
