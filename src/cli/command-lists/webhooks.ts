// The commands of webhooks.
import type { CommandList } from '#cli/command-spec.ts'

export const WEBHOOKS_COMMANDS: CommandList = {
  groups: { webhook: 'Events, sent to addresses of your own' },
  commands: [
    {
      usage: 'webhook create',
      help: 'Create an endpoint that receives events; its secret is printed once',
      options: [
        ['--url <url>', 'https address that receives events'],
        [
          '--events <list>',
          'event types by comma, such as balance.low,energy_budget.exceeded; bucket/<bucket>/object-created for objects',
        ],
        ['--description <text>', 'words of your own'],
      ],
      load: () => import('#cli/commands/webhook/create.ts'),
    },
    {
      usage: 'webhook list',
      help: 'The endpoints',
      load: () => import('#cli/commands/webhook/list.ts'),
    },
    {
      usage: 'webhook rotate <id>',
      help: 'Give the endpoint a new secret; the old one signs too for 24 hours',
      load: () => import('#cli/commands/webhook/rotate.ts'),
    },
    {
      usage: 'webhook test',
      help: 'Send a synthetic event to an endpoint, and wait for its answer',
      options: [
        ['--endpoint <id>', 'the endpoint'],
        ['--event <type>', 'the event type, such as balance.low'],
      ],
      load: () => import('#cli/commands/webhook/test.ts'),
    },
    {
      usage: 'webhook log',
      help: 'The events that were sent, the newest first',
      options: [
        ['--since <duration>', 'how far back, such as 1h or 7d (default 24h)'],
        ['--endpoint <id>', 'of this endpoint alone'],
        ['--status <status>', 'pending, delivered or dead'],
      ],
      load: () => import('#cli/commands/webhook/log.ts'),
    },
    {
      usage: 'webhook pause <id>',
      help: 'Send nothing until the endpoint is resumed; events wait',
      load: () => import('#cli/commands/webhook/pause.ts'),
    },
    {
      usage: 'webhook resume <id>',
      help: 'Send again to a paused or disabled endpoint, first the events that wait',
      load: () => import('#cli/commands/webhook/resume.ts'),
    },
    {
      usage: 'webhook delete <id>',
      help: 'Delete the endpoint, the events that wait for it and its log',
      load: () => import('#cli/commands/webhook/delete.ts'),
    },
    {
      usage: 'webhook replay <id>',
      help: 'Send events again: one, or those of a time that did not arrive',
      options: [
        ['--event-id <id>', 'this event'],
        ['--since <duration>', 'events of the last 1h, 7d and so on'],
        ['--delivered', 'with --since: also events that were delivered'],
      ],
      load: () => import('#cli/commands/webhook/replay.ts'),
    },
    {
      usage: 'webhook listen',
      help: 'Forward the events of the account to this machine, without an endpoint',
      options: [
        ['--forward-to <address>', 'such as localhost:3000/events'],
        ['--events <list>', 'event types by comma (default: all but receipt.published)'],
      ],
      load: () => import('#cli/commands/webhook/listen.ts'),
    },
  ],
}
