// The commands of description files.
import type { CommandList } from '#cli/command-spec.ts'

export const STACK_COMMANDS: CommandList = {
  commands: [
    {
      usage: 'validate [file]',
      isLocal: true,
      help: 'Check a description file (default ergon.hcl) without a service: exit 1 where it has faults',
      options: [['--var <name=value>', 'the value of a variable; repeatable', 'repeated']],
      load: () => import('./validate.ts'),
    },
  ],
}
