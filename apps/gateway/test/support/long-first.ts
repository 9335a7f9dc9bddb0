import { BaseSequencer, type TestSpecification } from 'vitest/node'

/** Files that take longest, first. Vitest would begin with large files, and these are small. */
const longest = [
  /differential\/(wire|jobs)/,
  /bridge\/pairs\//,
  /processes\/dying/,
  /migrate\/command/,
  /store-trouble\/failover/,
  /bridge\/(shared-function|lost-gateway|who-may-take|dead-faktory)/,
  /stock\/pairs/,
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
