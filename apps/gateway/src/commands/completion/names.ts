import type { CommandForm } from '../../config/option-row.ts'

export const shells = ['bash', 'zsh', 'fish'] as const
export type Shell = (typeof shells)[number]

export const completionName = 'completion'

export const completionForm: CommandForm = {
  words: [completionName],
  summary: `print the completion script of a shell: ${shells.join(', ')}`,
  arguments: [{ name: 'shell', help: '', isRequired: true, choices: shells }],
}
