import { StoreError } from '@crossgear/core-scheduler'
import { examine, type Finding } from '@crossgear/redis-store/doctor'
import { storeAddressOf } from '../cli/store-address-of.ts'
import { type ConfigSources, loadConfig } from '../../config/load-config.ts'
import { laneNamesOf } from '../../config/routes.ts'
import { StartError } from '../../errors.ts'
import { checkAnswer } from '../../store/given-store.ts'
import { readDoctorArguments } from './arguments.ts'
import { measureCapacity } from './capacity/measure-capacity.ts'
import { capacityText } from './capacity/report.ts'

const exitCodes = { fine: 0, usage: 1, unreachable: 2, faults: 3 } as const

export interface DoctorSurroundings {
  readonly env: ConfigSources['env']
  readonly stdout: { write(text: string): unknown }
  readonly stderr: { write(text: string): unknown; readonly isTTY?: boolean }
}

/** Runs `crossgear doctor ...`; returns the exit code. */
export async function runDoctor(
  words: readonly string[],
  { env, stdout, stderr }: DoctorSurroundings,
): Promise<number> {
  const fail = (error: Error, exitCode: number): number => {
    stderr.write(`${error.message}\n`)
    return exitCode
  }
  try {
    const given = readDoctorArguments(words, stdout)
    if (!given) return exitCodes.fine
    const { flags, isJson, isFull, capacitySeconds } = given
    if (capacitySeconds !== undefined) {
      const capacity = await measureCapacity(capacitySeconds, stderr)
      stdout.write(isJson ? `${JSON.stringify(capacity)}\n` : capacityText(capacity))
      return exitCodes.fine
    }
    const config = loadConfig({ flags, env })
    const names = laneNamesOf(config)
    const address = await storeAddressOf(config)
    await checkAnswer(address)
    const findings = await examine(address, { names, isFull })
    stdout.write(isJson ? `${JSON.stringify({ findings })}\n` : textOf(findings))
    return findings.some(({ level }) => level === 'fault') ? exitCodes.faults : exitCodes.fine
  } catch (error) {
    if (error instanceof StoreError) {
      const reason = error.message.replace(/\.$/, '')
      return fail(new Error(`The store cannot be reached: ${reason}.`), exitCodes.unreachable)
    }
    if (!(error instanceof StartError)) throw error
    return fail(error, error.exitCode === 2 ? exitCodes.usage : exitCodes.unreachable)
  }
}

function textOf(findings: readonly Finding[]): string {
  const widest = Math.max(...findings.map(({ check }) => check.length))
  return findings
    .map(({ level, check, message, advice }) => {
      const todo = advice === undefined ? '' : `. To do: ${advice}`
      return `${level.padEnd('warning'.length)}  ${check.padEnd(widest)}  ${message}${todo}.\n`
    })
    .join('')
}
