// Removes build output. `tsc -b` never deletes the output of a deleted source.
import { readdirSync, rmSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('../..', import.meta.url))
const outputs = new Set(['dist', 'out-tsc'])
const skipped = new Set(['node_modules', '.git', '.nx', 'crossgear-data'])

/** @param {string} folder */
function clean(folder) {
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = `${folder}/${entry.name}`
    if (entry.isDirectory() && outputs.has(entry.name)) rmSync(path, { recursive: true })
    else if (entry.isDirectory() && !skipped.has(entry.name)) clean(path)
    else if (entry.isFile() && entry.name.endsWith('.tsbuildinfo')) rmSync(path)
  }
}

clean(root.replace(/\/$/, ''))
