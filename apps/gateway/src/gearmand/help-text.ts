import { gearmandOptions, type GearmandOption } from './option-table.ts'

const WIDTH = 32

/** What `--help` prints. */
export function helpText(): string {
  const lines = gearmandOptions.map((option) => `  ${left(option).padEnd(WIDTH)}  ${option.help}`)
  return [
    'Usage: crossgear gearmand [options]',
    '',
    "Runs the gateway with gearmand's own options: the Gearman port, and the HTTP port with -r http.",
    'Where jobs are kept is said by CROSSGEAR_REDIS_URL or CROSSGEAR_DATA_DIR: see crossgear --help.',
    '',
    'Allowed options:',
    ...lines,
    '',
  ].join('\n')
}

function left({ name, short, value }: GearmandOption): string {
  const names = short === undefined ? `--${name}` : `-${short} [ --${name} ]`
  return value ? `${names} arg` : names
}
