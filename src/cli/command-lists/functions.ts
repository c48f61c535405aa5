// The commands of functions.
import type { CommandList } from '#cli/command-spec.ts'
import { DELETION_OPTIONS } from '#cli/confirm-deletion.ts'

export const FUNCTIONS_COMMANDS: CommandList = {
  groups: { fn: 'Functions: deploy, list, logs, energy, roll back, suspend, delete' },
  commands: [
    {
      usage: 'fn deploy <file>',
      help: 'Deploy a function, or another version of it, and wait until it answers; absent options stay as they were',
      options: [
        ['--name <name>', 'its name (default: that of the file)'],
        ['--route <path>', 'where it answers, such as /hello (default: its name)'],
        [
          '--host <name>',
          'a host of its own where it answers too; repeatable; all of them, when one is given; none: no more',
          'repeated',
        ],
        [
          '--runtime <runtime>',
          'its runtime, such as node24 or python3.11 (default: the newest for such files)',
        ],
        ['--memory <size>', 'its memory, such as 128MB (default) up to 1GiB'],
        ['--timeout <seconds>', 'the longest time of a request (default 30)'],
        [
          '--on <trigger>',
          'run it for new objects: bucket/photos/object-created; repeatable; none: no more',
          'repeated',
        ],
        ['--schedule <times>', 'run it at times of UTC, such as "*/5 * * * *"; none: no more'],
        ['--concurrency <requests>', 'requests that run at once (default 20; 1 for Lambda)'],
        [
          '--env <assignment>',
          'a variable as NAME=value; repeatable; all of them, when one is given',
          'repeated',
        ],
        [
          '--energy-budget <energy>',
          'the most energy that it may use on a day of UTC, such as "10 kJ/day"',
        ],
      ],
      load: () => import('#cli/commands/fn/deploy.ts'),
    },
    { usage: 'fn list', help: 'The functions', load: () => import('#cli/commands/fn/list.ts') },
    {
      usage: 'fn show <name>',
      help: 'One function, with its versions',
      load: () => import('#cli/commands/fn/show.ts'),
    },
    {
      usage: 'fn logs <name>',
      help: 'The newest lines that the function has written',
      options: [
        ['-f, --follow', 'go on with new lines'],
        ['--lines <lines>', 'how many of those that are there (default 200)'],
      ],
      load: () => import('#cli/commands/fn/logs.ts'),
    },
    {
      usage: 'fn energy <name>',
      help: 'Energy, carbon and price of the function, by the hour',
      options: [['--since <duration>', 'for example 1h, 24h, 7d, at most 31d (default 24h)']],
      load: () => import('#cli/commands/fn/energy.ts'),
    },
    {
      usage: 'fn failures <name>',
      help: 'The runs for objects and times that failed for good, and those that failed and are tried again',
      load: () => import('#cli/commands/fn/failures.ts'),
    },
    {
      usage: 'fn replay <name>',
      help: 'Run failed runs again that are not retried any more',
      options: [['--id <run>', 'one of them (default: all)']],
      load: () => import('#cli/commands/fn/replay.ts'),
    },
    {
      usage: 'fn discard <name>',
      help: 'Forget failed runs that are not retried any more',
      options: [
        ['--id <run>', 'one of them'],
        ['--all', 'all of them'],
      ],
      load: () => import('#cli/commands/fn/discard.ts'),
    },
    {
      usage: 'fn rollback <name>',
      help: 'Make an earlier version answer again',
      options: [['--to <version>', 'which one (default: the one before the live one)']],
      load: () => import('#cli/commands/fn/rollback.ts'),
    },
    {
      usage: 'fn budget <name> <energy>',
      help: 'Set the energy budget, such as "10 kJ/day", or none; takes effect within seconds',
      load: () => import('#cli/commands/fn/budget.ts'),
    },
    {
      usage: 'fn suspend <name>',
      help: 'Stop the function until it is resumed: requests get 503',
      load: () => import('#cli/commands/fn/suspend.ts'),
    },
    {
      usage: 'fn resume <name>',
      help: 'Let a suspended function answer again',
      load: () => import('#cli/commands/fn/resume.ts'),
    },
    {
      usage: 'fn delete <name>',
      help: 'Delete the function with its versions and its log',
      options: DELETION_OPTIONS,
      load: () => import('#cli/commands/fn/delete.ts'),
    },
  ],
}
