// The commands of the toy.
import type { CommandList } from '#cli/command-spec.ts'

export const TOY_COMMANDS: CommandList = {
  groups: { toy: 'The toy: tallies' },
  commands: [
    {
      usage: 'toy tallies',
      help: 'Counts by account',
      load: () => import('#cli/commands/toy/tallies.ts'),
    },
  ],
}
