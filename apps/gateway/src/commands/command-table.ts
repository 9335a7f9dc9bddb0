import { backupForms } from './backup/arguments.ts'
import type { CommandForm, OptionRow } from '../config/option-row.ts'
import { optionNames, settingOption } from '../config/options.ts'
import { doctorForm } from './doctor/arguments.ts'
import { faktoryForm } from './faktory/program.ts'
import { gearmandForm } from './gearmand/option-table.ts'
import { migrateForms } from './migrate/arguments.ts'
import { mirrorForm } from './mirror/arguments.ts'
import { passwordForm } from './password/arguments.ts'
import { commands } from './terminal/commands.ts'
import { terminalForms } from './terminal/program.ts'
import { completionForm } from './completion/names.ts'
import { programSummary, serveForm } from './program.ts'

const help: OptionRow = { name: 'help', short: 'h', help: 'print the help' }
const version: OptionRow = { name: 'version', short: 'V', help: 'print the version' }
const settings = optionNames.map(settingOption)

/** Every command with its options: for completion and manual pages. */
export const commandTable: readonly CommandForm[] = [
  { words: [], summary: programSummary, options: [...settings, help, version] },
  ...[
    serveForm,
    ...terminalForms(commands),
    completionForm,
    ...migrateForms,
    mirrorForm,
    ...Object.values(backupForms),
    doctorForm,
    passwordForm,
    faktoryForm,
  ].map((form) => ({ ...form, options: [...(form.options ?? []), help] })),
  gearmandForm,
]
