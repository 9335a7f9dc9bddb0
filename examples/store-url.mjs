// The address of the store of a gateway that was started in this folder: `npm start` prints it as well.
import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'

const folder = process.env.CROSSGEAR_DATA_DIR ?? './crossgear-data'

export function storeUrl() {
  if (process.env.REDIS_URL) return process.env.REDIS_URL
  const password = readFileSync(`${folder}/store.password`, 'utf8').trim()
  return `unix://${encodeURI(resolve(folder, 'store.sock'))}?password=${password}`
}
