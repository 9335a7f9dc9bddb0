export const shells = ['bash', 'zsh', 'fish'] as const
export type Shell = (typeof shells)[number]

export const completionName = 'completion'
export const completionSummary = `print what completes words in a shell: ${shells.join(', ')}`
