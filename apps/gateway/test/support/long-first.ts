import { BaseSequencer, type TestSpecification } from 'vitest/node'

/** Files that take longest, first. Vitest would begin with large files, and these are small. */
const longest = [
  /differential\/(wire|jobs)/,
  /migrate\/killed-moves/,
  /operating-page/,
  /bridge\/pairs\//,
  /processes\/(dying|standing-still)/,
  /stock\/pairs/,
  /dashboard\/pages/,
  /bridge\/(shared-function|lost-gateway|who-may-take|unique-keys|dead-faktory)/,
  /options\/observed/,
  /store-trouble\/failover/,
]

function placeOf({ moduleId }: TestSpecification): number {
  const place = longest.findIndex((pattern) => pattern.test(moduleId))
  return place < 0 ? longest.length : place
}

export class LongFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files)
    return sorted.toSorted((one, other) => placeOf(one) - placeOf(other))
  }
}
