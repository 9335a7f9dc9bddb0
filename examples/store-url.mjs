// The address of the store of a gateway that was started in this folder: `npm start` prints it as well.
import { readFileSync } from 'node:fs'

const folder = process.env.CROSSGEAR_DATA_DIR ?? './crossgear-data'

export function storeUrl() {
  if (process.env.REDIS_URL) return process.env.REDIS_URL
  const password = readFileSync(`${folder}/store.password`, 'utf8').trim()
  return `redis://default:${password}@127.0.0.1:${port()}`
}

/** The embedded store leaves no note of its port, which is the usual one if that was free. */
function port() {
  try {
    return JSON.parse(readFileSync(`${folder}/store.json`, 'utf8')).port
  } catch {
    return 6379
  }
}
