import { BaseSequencer, type TestSpecification } from 'vitest/node'

/** Files that take longest, first. Vitest would begin with large files, and these are small. */
const longest = [
  /bridge\/dead-faktory/,
  /differential\/jobs/,
  /bridge\/foreign-fields/,
  /bridge\/pairs\//,
  /dashboard\/acts/,
  /bridge\/who-may-take/,
  /store-trouble\/failover/,
  /push\/processes/,
  /dashboard\/(comfort|long-lists)/,
  /faktory-command\/process/,
  /api\/proxied-requests/,
  /routes\/early/,
  /bridge\/(lost-gateway|worker-counts)/,
  /metrics\/real-workers/,
  /hostile\/hostile/,
  /stock\/pairs/,
  /migrate\/server-targets/,
  /differential\/wire/,
  /bridge\/strangers/,
  /dashboard\/(pages|many-functions)/,
  /processes\/(dying|standing-still)/,
  /(store\/durability|mirror\/store-mirror)\./,
  /faktory\/workers\/dead-workers/,
  /bridge\/two-databases/,
  /command-line/,
  /migrate\/(killed-moves|cut-over)/,
  /metrics\/prometheus/,
  /terminal\/commands/,
  /operating-page/,
  /stock\/alone/,
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
