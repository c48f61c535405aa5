// The commands of the toy.
import type { CommandList } from '#cli/command-spec.ts'

export const TOY_COMMANDS: CommandList = {
  groups: { toy: 'The toy: counts' },
  commands: [
    { usage: 'toy counts', help: 'Counts by account', load: () => import('./toy-counts.ts') },
  ],
}
