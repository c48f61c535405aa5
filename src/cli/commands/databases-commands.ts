// The commands of databases.
import type { CommandList } from '#cli/command-spec.ts'

export const DATABASES_COMMANDS: CommandList = {
  groups: { db: 'Databases: create, list, connect, delete' },
  commands: [
    {
      usage: 'db create <name>',
      help: 'Create a PostgreSQL 16 database with pgvector, and wait until it can be connected to',
      options: [
        ['--region <region>', 'where it is: a region of the service, or auto (default)'],
        [
          '--size <size>',
          'the room that it is meant to take, such as 500MB (default 1GB); not enforced yet',
        ],
      ],
      load: () => import('./db-create.ts'),
    },
    { usage: 'db list', help: 'The databases', load: () => import('./db-list.ts') },
    { usage: 'db show <name>', help: 'One database', load: () => import('./db-show.ts') },
    {
      usage: 'db url <name>',
      help: 'The connection string, with the password: keep it secret',
      load: () => import('./db-url.ts'),
    },
    {
      usage: 'db psql <name>',
      help: 'Open psql on the database',
      options: [['--command <sql>', 'run this and end; several statements by semicolon']],
      load: () => import('./db-psql.ts'),
    },
    {
      usage: 'db delete <name>',
      help: 'Delete the database and everything in it, for good',
      options: [['--force', 'nothing is asked']],
      load: () => import('./db-delete.ts'),
    },
  ],
}
