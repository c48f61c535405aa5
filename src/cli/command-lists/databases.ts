// The commands of databases.
import type { CommandList, OptionSpec } from '#cli/command-spec.ts'
import { DELETION_OPTIONS } from '#cli/confirm-deletion.ts'

const COPIED_BUDGET: OptionSpec = [
  '--energy-budget <energy>',
  'the most energy on a day of UTC, such as "5 kJ/day", or none; that of the other one by default',
]

export const DATABASES_COMMANDS: CommandList = {
  groups: {
    db: 'Databases: create, list, connect, resize, suspend, delete',
    'db role': 'Logins of a database',
    'db backup': 'Backups of a database: list, take one, delete',
  },
  commands: [
    {
      usage: 'db create <name>',
      help: 'Create a PostgreSQL 16 database with pgvector, and wait until it can be connected to',
      options: [
        ['--region <region>', 'where it is: a region of the service, or auto (default)'],
        [
          '--size <size>',
          'the room for its tables, indexes and large objects, such as 500MB (default 1GB)',
        ],
        [
          '--energy-budget <energy>',
          'the most energy that it may use on a day of UTC, such as "5 kJ/day"',
        ],
      ],
      load: () => import('#cli/commands/db/create.ts'),
    },
    { usage: 'db list', help: 'The databases', load: () => import('#cli/commands/db/list.ts') },
    {
      usage: 'db show <name>',
      help: 'One database',
      load: () => import('#cli/commands/db/show.ts'),
    },
    {
      usage: 'db url <name>',
      help: 'The connection string, with the password: keep it secret',
      options: [
        ['--role <role>', 'of this role; of the owner by default'],
        [
          '--ca <file>',
          'write the certificate of the service to a file, by which the connection string checks it',
        ],
      ],
      load: () => import('#cli/commands/db/url.ts'),
    },
    {
      usage: 'db psql <name>',
      help: 'Open psql on the database',
      options: [['-c, --command <sql>', 'run this and end; several statements by semicolon']],
      load: () => import('#cli/commands/db/psql.ts'),
    },
    {
      usage: 'db query <name> <sql>',
      help: 'Run one statement that reads, without psql; the time and joules go to stderr',
      options: [
        ['--max-rows <n>', 'at most so many rows, to 1000 (default 100)'],
        ['--csv', 'the rows as CSV'],
      ],
      load: () => import('#cli/commands/db/query.ts'),
    },
    {
      usage: 'db resize <name> <size>',
      help: 'Give the database more or less room, such as 2GB; takes effect within 5 seconds',
      load: () => import('#cli/commands/db/resize.ts'),
    },
    {
      usage: 'db budget <name> <energy>',
      help: 'Set the energy budget, such as "10 kJ/day", or none; takes effect within seconds',
      load: () => import('#cli/commands/db/budget.ts'),
    },
    {
      usage: 'db upgrade <name>',
      help: 'Bring the extensions of the database, such as vector, to the versions that the service has',
      load: () => import('#cli/commands/db/upgrade.ts'),
    },
    {
      usage: 'db energy <name>',
      help: 'Energy, carbon and price of the database, by the hour, as it was charged',
      options: [
        ['--since <duration>', 'how far back, such as 1h or 7d, at most 31d (default 24h)'],
        ['--by <step>', 'minute, hour (default) or day'],
        ['--queries', 'an estimate for each query instead, by execution time'],
        [
          '--limit <n>',
          'with --queries, at most so many (default 20, at most 100); the others are one line',
        ],
      ],
      load: () => import('#cli/commands/db/energy.ts'),
    },
    {
      usage: 'db suspend <name>',
      help: 'Stop the server of the database until it is resumed; its bytes are still charged',
      load: () => import('#cli/commands/db/suspend.ts'),
    },
    {
      usage: 'db resume <name>',
      help: 'Let clients connect to a suspended database again',
      load: () => import('#cli/commands/db/resume.ts'),
    },
    {
      usage: 'db role list <name>',
      help: 'The roles of the database',
      load: () => import('#cli/commands/db/role-list.ts'),
    },
    {
      usage: 'db role create <name> <role>',
      help: 'Create a login with the rights of the owner, or one that only reads',
      options: [
        ['--read-only', 'it reads all data of the owner, now and later, and changes nothing'],
      ],
      load: () => import('#cli/commands/db/role-create.ts'),
    },
    {
      usage: 'db role rotate <name> <role>',
      help: 'Give a role a new password, such as the owner: sessions that are open go on',
      load: () => import('#cli/commands/db/role-rotate.ts'),
    },
    {
      usage: 'db role delete <name> <role>',
      help: 'Delete a role and end its sessions',
      load: () => import('#cli/commands/db/role-delete.ts'),
    },
    {
      usage: 'db delete <name>',
      help: 'Delete the database; it can be restored for some days',
      options: DELETION_OPTIONS,
      load: () => import('#cli/commands/db/delete.ts'),
    },
    {
      usage: 'db backup create <name>',
      help: 'Take a backup now, which is kept until it is deleted, and wait until it is done',
      load: () => import('#cli/commands/db/backup-create.ts'),
    },
    {
      usage: 'db backup list <name>',
      help: 'The backups, and the times that the database can be restored to; a deleted one by its id',
      load: () => import('#cli/commands/db/backup-list.ts'),
    },
    {
      usage: 'db backup delete <name> <backup>',
      help: 'Delete a backup',
      load: () => import('#cli/commands/db/backup-delete.ts'),
    },
    {
      usage: 'db restore <name>',
      help: 'Make a new database from the backups of one, which stays as it is; of a deleted one by its id',
      options: [
        ['--as <new>', 'the name of the new database'],
        ['--to <time>', 'as it was then, such as 2026-11-25T14:30:00Z; now by default'],
        ['--backup <id>', 'as it was at the end of this backup'],
        ['--size <size>', 'its room; that of the other one by default'],
        COPIED_BUDGET,
      ],
      load: () => import('#cli/commands/db/restore.ts'),
    },
    {
      usage: 'db clone <name> <new>',
      help: 'Make a new database with everything that is in one now',
      options: [COPIED_BUDGET],
      load: () => import('#cli/commands/db/clone.ts'),
    },
    {
      usage: 'db export <name> [file]',
      help: 'Write the database to a file, or to the standard output, with the pg_dump of this machine',
      options: [['--format <format>', 'custom (default), or plain: SQL']],
      load: () => import('#cli/commands/db/export.ts'),
    },
    {
      usage: 'db import <name> <source>',
      help: 'Read a dump, or another database by its address, with the pg_dump, pg_restore and psql of this machine',
      load: () => import('#cli/commands/db/import.ts'),
    },
  ],
}
