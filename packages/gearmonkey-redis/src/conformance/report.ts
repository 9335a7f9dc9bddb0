import { judgeOrder, withPlaceholders, type Seen, type Step, type Subject } from './trace.ts'

type Verdict = 'PASS' | 'FAIL' | 'SKIP'

/** One MUST of the protocol, and the finding. */
export interface Finding {
  readonly verdict: Verdict
  /** The scene under test, for instance `client, high`. */
  readonly scene: string
  readonly must: string
  /** The deviation, or why the check was skipped. */
  readonly detail?: string
}

/** Findings of one run, written out as they come. */
export class Report {
  readonly #write: (line: string) => void
  readonly #findings: Finding[] = []

  constructor(write: (line: string) => void) {
    this.#write = write
  }

  /** Judges each step: was it seen, and after those before it? */
  judgeSteps(
    scene: string,
    trace: readonly Seen[],
    steps: readonly Step[],
    subject: Subject,
  ): void {
    for (const { must, detail } of judgeOrder(trace, steps)) {
      const what = detail && withPlaceholders(detail, subject)
      this.judge(scene, withPlaceholders(must, subject), what)
    }
  }

  /** `detail` undefined means that the MUST holds. */
  judge(scene: string, must: string, detail: string | undefined): void {
    if (detail === undefined) this.#add({ verdict: 'PASS', scene, must })
    else this.#add({ verdict: 'FAIL', scene, must, detail })
  }

  /** The MUST was skipped; `detail` says why. */
  leaveOut(scene: string, must: string, detail: string): void {
    this.#add({ verdict: 'SKIP', scene, must, detail })
  }

  /** Writes the last line. @returns the exit code: 0, or 1 if a MUST failed or none was checked */
  close(): 0 | 1 {
    const count = (verdict: Verdict): number =>
      this.#findings.filter((finding) => finding.verdict === verdict).length
    this.#write(`${count('PASS')} passed, ${count('FAIL')} failed, ${count('SKIP')} skipped`)
    return count('FAIL') > 0 || count('PASS') === 0 ? 1 : 0
  }

  #add(finding: Finding): void {
    this.#findings.push(finding)
    const { verdict, scene, must, detail } = finding
    this.#write(`${verdict}  ${scene}: ${must}${detail === undefined ? '' : ` -- ${detail}`}`)
  }
}
