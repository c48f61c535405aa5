// The commands of the node and the account: login, status, usage, energy, meter.
import type { CommandList } from '#cli/command-spec.ts'
import { SPAN_OPTIONS } from '#cli/span.ts'

export const NODE_COMMANDS: CommandList = {
  commands: [
    {
      usage: 'login',
      help: 'Get a token that a person approves at the portal, or read one from stdin, and store it',
      options: [
        ['--device', 'approve it on another device, by a code'],
        ['--browser', 'approve it in the browser of this machine (default on a terminal)'],
        [
          '--scope <scope>',
          'what you want to choose on the page of the approval: read, deploy or billing-admin (default deploy)',
        ],
      ],
      load: () => import('#cli/commands/login.ts'),
    },
    {
      usage: 'logout',
      help: 'Revoke the token that login has stored, and forget it',
      load: () => import('#cli/commands/logout.ts'),
    },
    {
      usage: 'status',
      help: 'What runs on this node, or the parts of the service at a given address',
      load: () => import('#cli/commands/status.ts'),
    },
    {
      usage: 'probe',
      help: 'What the installation found when it last asked itself',
      options: [
        ['--days <count>', 'rows of so many days, 1 to 90 (default: the last probe alone)'],
      ],
      load: () => import('#cli/commands/probe.ts'),
    },
    {
      usage: 'models list',
      help: 'The models that answer',
      load: () => import('#cli/commands/models/list.ts'),
    },
    {
      usage: 'usage',
      help: 'What the account used, and how much of its energy a sensor read',
      options: [
        ['--since <duration>', 'for example 24h, 7d (default 24h)'],
        ...SPAN_OPTIONS,
        [
          '--group-by <what>',
          'service, model, token, operation, resource or day (default service)',
        ],
        ['--step <time>', 'a row for each minute, hour or day'],
        ['--last', 'the last request of this token'],
      ],
      load: () => import('#cli/commands/usage.ts'),
    },
    {
      usage: 'energy [workload]',
      help: 'Energy, carbon and price of the account, or of a workload, by the hour; of a function: ergon fn energy',
      options: [['--since <duration>', 'for example 1h, 24h, 7d (default 24h)']],
      load: () => import('#cli/commands/energy.ts'),
    },
    {
      usage: 'meter',
      help: 'Live watts, their split and their method',
      options: [
        ['--watch', 'show it again every second, until Ctrl-C; with --json a line each time'],
      ],
      load: () => import('#cli/commands/meter.ts'),
    },
    {
      usage: 'meter calibrate',
      help: 'Measure this machine’s power curve against its sensor',
      load: () => import('#cli/commands/meter/calibrate.ts'),
    },
  ],
}
