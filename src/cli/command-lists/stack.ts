// The commands of description files.
import type { CommandList, OptionSpec } from '#cli/command-spec.ts'

const VARIABLES: readonly OptionSpec[] = [
  ['--var <name=value>', 'the value of a variable; repeatable', 'repeated'],
  ['--var-file <path>', 'a file with lines name = value; repeatable', 'repeated'],
]
const FILE: OptionSpec = ['--file <path>', 'the description file, in place of the word']
const STACK: readonly OptionSpec[] = [
  FILE,
  [
    '--stack <name>',
    'the stack whose earlier description it follows (default: the name of its folder)',
  ],
]
const ALLOW_DELETE: OptionSpec = [
  '--allow-delete',
  'databases, volumes, and buckets with objects, are deleted too where the description leaves them out',
]
const DETAILED: OptionSpec = ['--detailed-exitcode', 'exit 2 where there are changes']
const YES: OptionSpec = ['--yes', 'nothing is asked']

export const STACK_COMMANDS: CommandList = {
  groups: { deployments: 'Deployments of description files: list, show, cancel' },
  commands: [
    {
      usage: 'validate [file]',
      isLocal: true,
      help: 'Check a description file (default ergon.hcl) without a service: exit 1 where it has faults',
      options: [FILE, ...VARIABLES],
      load: () => import('#cli/commands/validate.ts'),
    },
    {
      usage: 'plan [file]',
      help: 'Show the changes that a deployment of ergon.hcl would make',
      options: [...STACK, ...VARIABLES, ALLOW_DELETE, DETAILED],
      load: () => import('#cli/commands/plan.ts'),
    },
    {
      usage: 'deploy [file]',
      help: 'Show the plan of ergon.hcl, ask, and apply it: resources that left the file since the last time are deleted',
      options: [
        ...STACK,
        ...VARIABLES,
        ALLOW_DELETE,
        DETAILED,
        YES,
        [
          '--watch',
          'go on with a line of joules each second, also where the output is no terminal',
        ],
      ],
      load: () => import('#cli/commands/deploy.ts'),
    },
    {
      usage: 'destroy [file]',
      help: 'Delete all that the stack has',
      options: [...STACK, ALLOW_DELETE, YES],
      load: () => import('#cli/commands/destroy.ts'),
    },
    {
      usage: 'deployments list',
      help: 'The deployments, the newest first',
      options: [
        ['--stack <name>', 'only those of this stack'],
        ['--limit <n>', 'at most so many (default 20)'],
      ],
      load: () => import('#cli/commands/deployments/list.ts'),
    },
    {
      usage: 'deployments show <id>',
      help: 'A deployment with its steps',
      options: [['--watch', 'until its end']],
      load: () => import('#cli/commands/deployments/show.ts'),
    },
    {
      usage: 'deployments cancel <id>',
      help: 'End a running deployment: what is done stays, and no further step begins',
      load: () => import('#cli/commands/deployments/cancel.ts'),
    },
  ],
}
