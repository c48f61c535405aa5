// The commands of tokens and of the audit log.
import type { CommandList } from '#cli/command-spec.ts'

export const TOKENS_COMMANDS: CommandList = {
  groups: { tokens: 'Tokens of the account: create, list, set, rotate, revoke' },
  commands: [
    {
      usage: 'tokens create <name>',
      help: 'Create a token; its secret is printed this once',
      options: [
        ['--scope <scope>', 'read (default), deploy or billing-admin'],
        ['--expires <duration>', 'for how long it is valid, such as 90d (default: until revoked)'],
        ['--rate <n>', 'at most so many requests a minute, at each gateway'],
        ['--energy-budget <energy>', 'at most so much energy a day, such as "5 kJ/day"'],
      ],
      load: () => import('#cli/commands/tokens/create.ts'),
    },
    {
      usage: 'tokens list',
      help: 'The tokens, the newest first',
      options: [['--all', 'those that have ended too']],
      load: () => import('#cli/commands/tokens/list.ts'),
    },
    {
      usage: 'tokens set <token>',
      help: 'Change the limits of a token; they hold when the command ends',
      options: [
        ['--rate <n>', 'requests a minute, at each gateway, or none'],
        ['--energy-budget <energy>', 'energy a day, such as "5 kJ/day", or none'],
      ],
      load: () => import('#cli/commands/tokens/set.ts'),
    },
    {
      usage: 'tokens rotate <token>',
      help: 'Replace a token by a new one of the same name, scope, expiry and limits; `ergon login` is kept up',
      options: [
        ['--overlap <duration>', 'for how long the old one stays valid, such as 24h (default 0s)'],
      ],
      load: () => import('#cli/commands/tokens/rotate.ts'),
    },
    {
      usage: 'tokens revoke <token>',
      help: 'Revoke a token: nothing honours it any more when the command ends',
      load: () => import('#cli/commands/tokens/revoke.ts'),
    },
    {
      usage: 'budgets',
      help: 'Energy budgets of resources and tokens, and their use today',
      load: () => import('#cli/commands/budgets.ts'),
    },
    {
      usage: 'audit',
      help: 'The changes of the account with their authors, the newest first',
      options: [
        ['--action <operation>', 'only this, such as token.create or database.delete'],
        ['--target <id>', 'only changes of this token, database, ...'],
        ['--before <entry>', 'only entries older than this one'],
        ['--limit <n>', 'at most so many (default 100, at most 1000)'],
      ],
      load: () => import('#cli/commands/audit.ts'),
    },
  ],
}
