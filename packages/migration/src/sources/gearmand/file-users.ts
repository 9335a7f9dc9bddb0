import { readdir, readlink, realpath } from 'node:fs/promises'

/** Other processes that have a file open, as far as the system shows them. */
export async function usersOf(path: string): Promise<readonly number[]> {
  const real = await realpath(path)
  const processes = await readdir('/proc').catch(() => [])
  const found: number[] = []
  for (const name of processes) {
    if (!/^\d+$/.test(name) || Number(name) === process.pid) continue
    const folder = `/proc/${name}/fd`
    const open = await readdir(folder).catch(() => [])
    const targets = await Promise.all(open.map((fd) => readlink(`${folder}/${fd}`).catch(() => '')))
    if (targets.includes(real)) found.push(Number(name))
  }
  return found
}
