// The commands of the toy, for the table of commands.
import type { CommandSpec } from '#cli/command-spec.ts'

export const TOY_COMMANDS: readonly CommandSpec[] = [
  { usage: 'toy counts', help: 'Counts by account', load: () => import('./toy-counts.ts') },
]
