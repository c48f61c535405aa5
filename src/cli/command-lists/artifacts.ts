// The commands of artifacts.
import type { CommandList } from '#cli/command-spec.ts'

export const ARTIFACTS_COMMANDS: CommandList = {
  groups: {
    artifacts: 'Files that arrive as packages: PostgreSQL, default models',
  },
  commands: [
    {
      usage: 'artifacts list',
      help: 'Files that arrive as packages',
      load: () => import('#cli/commands/artifacts/list.ts'),
    },
    {
      usage: 'artifacts fetch <name>',
      help: 'Fetch one and check it',
      load: () => import('#cli/commands/artifacts/fetch.ts'),
    },
    {
      usage: 'artifacts verify [name]',
      help: 'Hash every file again; remove damaged ones',
      load: () => import('#cli/commands/artifacts/verify.ts'),
    },
    {
      usage: 'artifacts prune',
      help: 'Remove old versions and leftovers',
      load: () => import('#cli/commands/artifacts/prune.ts'),
    },
  ],
}
