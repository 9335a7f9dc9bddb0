export const shells = ['bash', 'zsh', 'fish'] as const
export type Shell = (typeof shells)[number]

export const completionName = 'completion'
export const completionSummary = `print the completion script of a shell: ${shells.join(', ')}`
