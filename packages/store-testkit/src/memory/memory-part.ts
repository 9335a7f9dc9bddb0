import type { Run } from './memory-world.ts'

/** A part of one node's store in a world in memory. */
export class MemoryPart {
  protected readonly node: string
  protected readonly step: Run

  constructor(node: string, step: Run) {
    this.node = node
    this.step = step
  }
}
