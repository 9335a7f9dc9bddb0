import { Help } from 'commander'
import { formatItem, helpWidth } from '../cli/help-layout.ts'
import { gearmandOptions, type GearmandOption } from './option-table.ts'

const WIDTH = 32

/** What `--help` prints. */
export function helpText(): string {
  const help = new Help()
  help.helpWidth = helpWidth()
  const lines = gearmandOptions.map((option) => formatItem(left(option), WIDTH, option.help, help))
  return [
    'Usage: crossgear gearmand [options]',
    '',
    "Runs the gateway with gearmand's own options: the Gearman port, and the HTTP",
    'port with -r http. CROSSGEAR_REDIS_URL or CROSSGEAR_DATA_DIR says where jobs are',
    'kept: see crossgear --help.',
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
