import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { Worker } from 'node:worker_threads'
import { Valkey, type Program } from '@crossgear/redis-store/embedded'
import { bundleProgram } from '@crossgear/tools/bundled-program'
import type { Plugin } from 'vite'
import type { AnswerTo, Message, Task } from './tasks.ts'

const source = fileURLToPath(new URL('player.ts', import.meta.url))
const condition = '@crossgear/source'
const pathOf = (file: string): string => fileURLToPath(new URL(`../../../${file}`, import.meta.url))
const scriptFolder = 'packages/redis-store/lua/'
const luaSource = pathOf('packages/redis-store/src/scripts/lua-files.ts')
/** A task that takes longer is a livelock that no budget of events has ended. */
const maxTaskMs = 10 * 60_000
/** Longest that a player takes to end its store. */
const maxEndMs = 5_000

export class PlayerError extends Error {}

/** A change to one of the program's files. */
export interface Change {
  /** The path of the program from the top of the repository. */
  readonly file: string
  readonly from: string
  readonly to: string
}

interface Waiting {
  readonly task: Task
  readonly onProgress: (answer: unknown) => void
  readonly resolve: (answer: unknown) => void
  readonly reject: (error: Error) => void
}

interface Taken extends Waiting {
  readonly hangs: NodeJS.Timeout
}

/** Threads that play worlds. */
export class Players {
  readonly #server: Program
  readonly #program: string
  readonly #waiting: Waiting[] = []
  readonly #threads = new Map<Worker, Taken | undefined>()
  #isOver = false

  private constructor(program: string, server: Program, count: number) {
    this.#server = server
    this.#program = program
    for (let one = 0; one < count; one += 1) this.#add()
  }

  /** Starts them; their program is written to a folder of the caller, with a change where there is one. */
  static async start(count: number, folder: string, change?: Change): Promise<Players> {
    const plugins = [withLua(change), ...(change ? [changed(change)] : [])]
    const program = await bundleProgram(source, folder, plugins)
    return new Players(program, await Valkey.compile(), count)
  }

  /** Rejects if the thread ends, or takes too long. */
  run<Kind extends Task['kind']>(
    task: Task & { readonly kind: Kind },
    onProgress: (answer: AnswerTo<Kind>) => void = () => undefined,
  ): Promise<AnswerTo<Kind>> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ task, onProgress, resolve, reject } as Waiting)
      this.#giveOut()
    })
  }

  /** Ends them; tasks under way never end. */
  async stop(): Promise<void> {
    this.#isOver = true
    this.#waiting.length = 0
    await Promise.all([...this.#threads.keys()].map((thread) => ended(thread)))
  }

  #add(): void {
    const thread = new Worker(this.#program, {
      workerData: this.#server,
      execArgv: [`--conditions=${condition}`],
    })
    this.#threads.set(thread, undefined)
    thread.on('message', ({ isLast, answer }: Message) => {
      const taken = this.#threads.get(thread)
      if (!isLast) return taken?.onProgress(answer)
      this.#threads.set(thread, undefined)
      clearTimeout(taken?.hangs)
      taken?.resolve(answer)
      this.#giveOut()
    })
    thread.on('error', (error) => this.#lose(thread, error.stack ?? String(error)))
    thread.on('exit', () => this.#lose(thread, 'its thread has ended'))
  }

  #giveOut(): void {
    for (const [thread, busy] of this.#threads) {
      if (busy) continue
      const next = this.#waiting.shift()
      if (!next) return
      const hangs = setTimeout(
        () => {
          this.#lose(thread, `it takes longer than ${maxTaskMs / 60_000} minutes`)
          void thread.terminate()
        },
        maxTaskMs + ('forMs' in next.task ? next.task.forMs : 0),
      )
      this.#threads.set(thread, { ...next, hangs })
      thread.postMessage(next.task)
    }
  }

  /** Another thread takes its place. */
  #lose(thread: Worker, reason: string): void {
    const taken = this.#threads.get(thread)
    clearTimeout(taken?.hangs)
    if (!this.#threads.delete(thread) || this.#isOver) return
    if (taken) this.#add()
    taken?.reject(new PlayerError(reason))
    if (this.#threads.size > 0) this.#giveOut()
    else for (const { reject } of this.#waiting.splice(0)) reject(new PlayerError(reason))
  }
}

async function ended(thread: Worker): Promise<void> {
  const exit = new Promise<void>((resolve) => {
    thread.once('exit', () => resolve())
  })
  thread.postMessage('end')
  const late = setTimeout(() => void thread.terminate(), maxEndMs)
  await exit
  clearTimeout(late)
}

/** Loads a file with its change, and all others as they are. */
function changed({ file, from, to }: Change): Plugin {
  const path = pathOf(file)
  const load = (id: string): string | undefined =>
    id === path ? readFileSync(path, 'utf8').replace(from, () => to) : undefined
  return { name: 'change', enforce: 'pre', load }
}

/** The Lua files, with a change to one of them: the bundle stands in another folder than theirs. */
function withLua(change?: Change): Plugin {
  const load = async (id: string): Promise<string | undefined> => {
    if (id !== luaSource) return undefined
    const { luaFiles } = (await import(luaSource)) as { readonly luaFiles: Record<string, string> }
    const files = { ...luaFiles }
    if (change?.file.startsWith(scriptFolder)) {
      const path = change.file.slice(scriptFolder.length).replace(/\.lua$/, '')
      files[path] = (files[path] ?? '').replace(change.from, () => change.to)
    }
    return `export const luaFiles = ${JSON.stringify(files)}`
  }
  return { name: 'Lua files', enforce: 'pre', load }
}
