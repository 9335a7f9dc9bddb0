import type { JobRef, Scheduler } from '@crossgear/core-scheduler'
import { parseJson } from '../../json.ts'
import {
  type Answers,
  NodeAnswers,
  type AnswerParts,
  type HeldView,
  inOrder,
  type Question,
  type WorkerOrder,
  questionText,
  type WorkersQuestion,
  type WorkerView,
} from './node-answers.ts'

/** A worker, and the node at which it is connected. */
export interface FleetWorker {
  readonly node: string
  readonly worker: WorkerView
}

/** Some workers of all nodes, in the order of the nodes' names. */
export interface FleetPage {
  readonly workers: readonly FleetWorker[]
  readonly total: number
  /** The answers of the nodes, by name. */
  readonly answers: ReadonlyMap<string, Answers['workers']>
  /** Nodes that did not answer in time. */
  readonly silent: readonly string[]
}

interface Asked<Ask extends Question['ask']> {
  readonly answers: ReadonlyMap<string, Answers[Ask]>
  readonly silent: readonly string[]
}

/** The workers of all gateways on the store: each is asked for those that it knows, and only when somebody looks. */
export class Fleet {
  readonly #scheduler: Scheduler
  readonly #node: string

  constructor(parts: AnswerParts & { readonly node: string }) {
    const own = new NodeAnswers(parts)
    this.#scheduler = parts.scheduler
    this.#node = parts.node
    parts.scheduler.nodeQuestions.answerWith((question) => own.answer(question))
  }

  /** Facts of each node. */
  about(): Promise<Asked<'about'>> {
    return this.#ask(this.#nodes(), { ask: 'about' })
  }

  /** Asks `nodes`, or all. Without an order a page behind the first takes two rounds of questions. */
  async workers(
    question: Omit<WorkersQuestion, 'ask' | 'sums'>,
    nodes: readonly string[] = this.#nodes(),
  ): Promise<FleetPage> {
    const { from, count, order } = question
    if (order) return this.#sorted(question, order, nodes)
    const first = await this.#ask(nodes, {
      ...question,
      ask: 'workers',
      sums: true,
      from: 0,
      count: from === 0 ? count : 0,
    })
    const page: FleetWorker[] = []
    const silent = [...first.silent]
    let passed = 0
    for (const [node, { total, workers }] of first.answers) {
      const begin = Math.max(0, from - passed)
      const missing = Math.min(count - page.length, total - begin)
      passed += total
      if (missing <= 0) continue
      const known = from === 0 ? workers : await this.#slice(node, question, begin, missing)
      if (!known) silent.push(node)
      for (const worker of (known ?? []).slice(0, missing)) page.push({ node, worker })
    }
    return { workers: page, total: passed, answers: first.answers, silent }
  }

  /** Each node gives the first of its own, which are sorted once more together. */
  async #sorted(
    question: Omit<WorkersQuestion, 'ask' | 'sums'>,
    order: WorkerOrder,
    nodes: readonly string[],
  ): Promise<FleetPage> {
    const { from, count } = question
    const asked = { ...question, ask: 'workers', sums: true, from: 0, count: from + count } as const
    const { answers, silent } = await this.#ask(nodes, asked)
    const all = [...answers].flatMap(([node, { workers }]) =>
      workers.map((worker) => {
        const forMs = order.by === 'beat' ? worker.beatAgoMs : worker.jobs[0]?.forMs
        return { node, worker, forMs }
      }),
    )
    const total = [...answers.values()].reduce((sum, answer) => sum + answer.total, 0)
    return { workers: inOrder(all, order).slice(from, from + count), total, answers, silent }
  }

  /** The worker of a leased job at the node that leased it; undefined: that node does not answer. */
  async holderOf(ref: JobRef, token: string, node: string): Promise<Answers['holder'] | undefined> {
    const { lane, id } = ref
    const { answers } = await this.#ask([node], { ask: 'holder', lane, id, token })
    return answers.get(node)
  }

  /** For how long the workers that have gone with these leases have been away, milliseconds, by token; of nodes that are there. */
  async goneWith(
    tokens: readonly string[],
    nodes: ReadonlySet<string>,
  ): Promise<ReadonlyMap<string, number>> {
    const alive = this.#nodes().filter((node) => nodes.has(node))
    if (alive.length === 0) return new Map()
    const { answers } = await this.#ask(alive, { ask: 'gone', tokens })
    return new Map(
      [...answers.values()].flatMap(({ leases }) =>
        leases.map(({ token, forMs }) => [token, forMs] as const),
      ),
    )
  }

  /** Leases whose workers have gone away, and for how long; at most a thousand of each node. */
  async gone(): Promise<readonly HeldView[]> {
    const { answers } = await this.#ask(this.#nodes(), { ask: 'gone' })
    return [...answers.values()].flatMap(({ leases }) => leases)
  }

  async #slice(
    node: string,
    question: Omit<WorkersQuestion, 'ask' | 'sums'>,
    from: number,
    count: number,
  ): Promise<readonly WorkerView[] | undefined> {
    const asked: WorkersQuestion = { ...question, ask: 'workers', sums: false, from, count }
    return (await this.#ask([node], asked)).answers.get(node)?.workers
  }

  #nodes(): readonly string[] {
    return [...new Set([this.#node, ...this.#scheduler.nodes.keys()])].sort()
  }

  async #ask<Ask extends Question['ask']>(
    nodes: readonly string[],
    question: Question & { readonly ask: Ask },
  ): Promise<Asked<Ask>> {
    const texts = await this.#scheduler.nodeQuestions.ask(nodes, questionText(question))
    const answers = new Map<string, Answers[Ask]>()
    for (const node of nodes) {
      const text = texts.get(node)
      if (text !== undefined) answers.set(node, parseJson(text) as Answers[Ask])
    }
    return { answers, silent: nodes.filter((node) => !answers.has(node)) }
  }
}
