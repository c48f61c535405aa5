// The commands of workloads.
import type { CommandList } from '#cli/command-spec.ts'
import { DELETION_OPTIONS } from '#cli/confirm-deletion.ts'

export const WORKLOADS_COMMANDS: CommandList = {
  groups: {
    workloads:
      'Workloads, which are containers: list, show; ergon logs, scale, budget, suspend, resume, rollback and delete take one by its name',
    registry: 'Passwords of registries, for pulls of images: login, logout, list',
  },
  commands: [
    {
      usage: 'workloads list',
      help: 'The workloads',
      load: () => import('#cli/commands/workloads/list.ts'),
    },
    {
      usage: 'workloads show <workload>',
      help: 'One workload, with its versions',
      load: () => import('#cli/commands/workloads/show.ts'),
    },
    {
      usage: 'logs <workload>',
      help: 'The newest lines that a workload has written; of a function: ergon fn logs',
      options: [
        ['-f, --follow', 'go on with new lines'],
        ['--lines <lines>', 'how many of those that are there (default 200)'],
      ],
      load: () => import('#cli/commands/logs.ts'),
    },
    {
      usage: 'scale <workload>',
      help: 'Set how many instances a workload has; with --min 0 it sleeps while no request comes',
      options: [
        ['--min <instances>', 'at least'],
        ['--max <instances>', 'at most'],
        ['--target-requests <requests>', 'of an instance at once, beyond which another one starts'],
      ],
      load: () => import('#cli/commands/scale.ts'),
    },
    {
      usage: 'budget <workload> <energy>',
      help: 'Set the energy budget of a workload, such as "10 kJ/day", or none; takes effect within seconds; all budgets: ergon budgets',
      load: () => import('#cli/commands/budget.ts'),
    },
    {
      usage: 'suspend <workload>',
      help: 'Stop a workload until it is resumed: requests get 503',
      load: () => import('#cli/commands/suspend.ts'),
    },
    {
      usage: 'resume <workload>',
      help: 'Let a suspended workload run again',
      load: () => import('#cli/commands/resume.ts'),
    },
    {
      usage: 'rollback <workload>',
      help: 'Make an earlier version of a workload answer again',
      options: [['--to <version>', 'which one (default: the one before the live one)']],
      load: () => import('#cli/commands/rollback.ts'),
    },
    {
      usage: 'delete <workload>',
      help: 'Delete a workload with its versions, its log and its volumes',
      options: DELETION_OPTIONS,
      load: () => import('#cli/commands/delete.ts'),
    },
    {
      usage: 'registry login <registry>',
      help: 'Keep a password of a registry, such as ghcr.io, for the pulls of the account’s images',
      options: [
        ['--username <name>', 'the user of the registry'],
        ['--password-stdin', 'read the password or token from stdin'],
      ],
      load: () => import('#cli/commands/registry/login.ts'),
    },
    {
      usage: 'registry logout <registry>',
      help: 'Forget the password of a registry',
      load: () => import('#cli/commands/registry/logout.ts'),
    },
    {
      usage: 'registry list',
      help: 'The registries whose passwords are kept',
      load: () => import('#cli/commands/registry/list.ts'),
    },
  ],
}
