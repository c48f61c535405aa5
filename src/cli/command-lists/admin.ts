// The commands of the operator: accounts, funds, tokens, alarms, incidents, tasks, journals.
import type { CommandList } from '#cli/command-spec.ts'

const PREVIEW = ['--preview', 'show it as the status page would, and change nothing'] as const
/** Public texts of an incident. */
const OUTCOME = [
  ['--lost <text>', 'the loss, in words'],
  ['--unbilled <text>', 'use that was not billed'],
  PREVIEW,
] as const

export const ADMIN_COMMANDS: CommandList = {
  groups: {
    admin: 'What only the operator of this node may do',
    'admin account': 'Accounts and their switches',
    'admin funds': 'Test money of accounts',
    'admin database': 'Databases of all accounts: what only the node can restore',
    'admin member': 'Members of accounts: people with roles',
    'admin token': 'Tokens: the callers of the service and their scopes',
    'admin alarm': 'What was found wrong: list, acknowledge',
    'admin incident': 'Regions that are degraded, on the status page: open, update, list, close',
    'admin journal': 'Journals that a start could not post: list, post, give up',
  },
  commands: [
    {
      usage: 'admin account list',
      help: 'Accounts and balances',
      load: () => import('#cli/commands/admin/account-list.ts'),
    },
    {
      usage: 'admin account create',
      help: 'A new account',
      options: [['--env <env>', 'test or live (default test)']],
      load: () => import('#cli/commands/admin/account-create.ts'),
    },
    {
      usage: 'admin account suspend <account>',
      help: 'Refuse the requests of an account and end its databases and functions; nothing is deleted',
      options: [['--reason <text>', 'why; its owners read it']],
      load: () => import('#cli/commands/admin/account-suspend.ts'),
    },
    {
      usage: 'admin account resume <account>',
      help: 'End the suspension of an account',
      load: () => import('#cli/commands/admin/account-resume.ts'),
    },
    {
      usage: 'admin account set <account>',
      help: 'Change a switch of an account',
      options: [
        [
          '--refuse-token-presign <on|off>',
          'refuse S3 addresses and forms that bear a token: on or off',
        ],
      ],
      load: () => import('#cli/commands/admin/account-set.ts'),
    },
    {
      usage: 'admin funds add <account> <amount>',
      help: 'Test money, in tUSD',
      load: () => import('#cli/commands/admin/funds-add.ts'),
    },
    {
      usage: 'admin token list',
      help: 'Tokens, without their secrets',
      load: () => import('#cli/commands/admin/token-list.ts'),
    },
    {
      usage: 'admin member invite <account> <name>',
      help: 'Invite a member, such as a new owner where those of before have lost their tokens',
      options: [['--role <role>', 'owner (default), admin, developer or viewer']],
      load: () => import('#cli/commands/admin/member-invite.ts'),
    },
    {
      usage: 'admin recover <account-or-member>',
      help: 'A link by which a member that has lost its passkeys adds one, valid once, for a day',
      load: () => import('#cli/commands/admin/recover.ts'),
    },
    {
      usage: 'admin token create',
      help: 'A new token, shown once',
      options: [
        ['--scope <scope>', 'read, deploy or billing-admin (default read)'],
        ['--account <account>', 'whose it is (default: the first account)'],
        ['--name <name>', 'to recognise it'],
        ['--expires <days>', 'days until it expires (default: never)'],
        ['--key-pair', 'for S3: an access key and its secret, in place of the token'],
      ],
      load: () => import('#cli/commands/admin/token-create.ts'),
    },
    {
      usage: 'admin token revoke <token>',
      help: 'Refused from the next request on',
      load: () => import('#cli/commands/admin/token-revoke.ts'),
    },
    {
      usage: 'admin alarm list',
      help: 'Faults that the service found and that are not acknowledged',
      options: [['--all', 'those that were acknowledged too']],
      load: () => import('#cli/commands/admin/alarm-list.ts'),
    },
    {
      usage: 'admin alarm acknowledge <alarm>',
      help: 'It and the earlier ones of its kind count no more; they are kept',
      load: () => import('#cli/commands/admin/alarm-acknowledge.ts'),
    },
    {
      usage: 'admin incident open <region> <summary>',
      help: 'Tell the accounts that have something in a region that it is degraded: the event fleet.region_outage',
      options: [['--since <time>', 'when it began (default: now)'], PREVIEW],
      load: () => import('#cli/commands/admin/incident-open.ts'),
    },
    {
      usage: 'admin incident list',
      help: 'Incidents, the newest first',
      load: () => import('#cli/commands/admin/incident-list.ts'),
    },
    {
      usage: 'admin incident update <incident> [words]',
      help: 'Add words to an incident, open or closed',
      options: OUTCOME,
      load: () => import('#cli/commands/admin/incident-update.ts'),
    },
    {
      usage: 'admin incident close <incident> [words]',
      help: 'The region works again',
      options: OUTCOME,
      load: () => import('#cli/commands/admin/incident-close.ts'),
    },
    {
      usage: 'admin request <request>',
      help: 'Why a request was refused, and its charge: by the id in its answer',
      load: () => import('#cli/commands/admin/request.ts'),
    },
    {
      usage: 'admin tasks',
      help: 'Background tasks: last and next run, progress, failures, dead jobs',
      load: () => import('#cli/commands/admin/tasks.ts'),
    },
    {
      usage: 'admin tasks retry <job>',
      help: 'Run a dead job again, with all its attempts',
      load: () => import('#cli/commands/admin/tasks-retry.ts'),
    },
    {
      usage: 'admin tasks run <name>',
      help: 'Run a task now',
      load: () => import('#cli/commands/admin/tasks-run.ts'),
    },
    {
      usage: 'admin database restore-lost',
      help: 'Restore all databases whose files are missing, each in its own place, from its backups',
      load: () => import('#cli/commands/admin/database-restore-lost.ts'),
    },
    {
      usage: 'admin journal list',
      help: 'Journals that the last start could not post, and kept',
      load: () => import('#cli/commands/admin/journal-list.ts'),
    },
    {
      usage: 'admin journal post <process>',
      help: 'Try again to post one, once its fault is mended',
      load: () => import('#cli/commands/admin/journal-post.ts'),
    },
    {
      usage: 'admin journal drop <process>',
      help: 'Post the readable records of one, and give up the rest: its files are set aside',
      load: () => import('#cli/commands/admin/journal-drop.ts'),
    },
  ],
}
