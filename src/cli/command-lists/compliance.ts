// The commands of evidence packs.
import type { CommandList } from '#cli/command-spec.ts'

const OUT = ['-o, --out <file>', 'the file (default: <id>.zip)'] as const

export const COMPLIANCE_COMMANDS: CommandList = {
  groups: { evidence: 'Evidence packs: the signed records of a period, for an auditor' },
  commands: [
    {
      usage: 'evidence create',
      help: 'Make an evidence pack of the charges that end in a time',
      options: [
        ['--from <time>', 'the first moment, such as 2026-01-01 or 2026-01-01T00:00:00Z'],
        ['--to <time>', 'the moment after the last one'],
        ['--wait', 'wait until it is made'],
        ['-o, --out <file>', 'wait, and download it'],
      ],
      load: () => import('#cli/commands/evidence/create.ts'),
    },
    {
      usage: 'evidence list',
      help: 'The evidence packs of the account, the newest first',
      load: () => import('#cli/commands/evidence/list.ts'),
    },
    {
      usage: 'evidence download <pack>',
      help: 'Download an evidence pack; wait until it is made',
      options: [OUT],
      load: () => import('#cli/commands/evidence/download.ts'),
    },
    {
      usage: 'evidence verify <zip>',
      isLocal: true,
      help: 'Check an evidence pack offline, against the keys that were pinned',
      options: [
        ['--keys <file>', 'the verifier keys (default: those pinned, else those of the pack)'],
      ],
      load: () => import('#cli/commands/evidence/verify.ts'),
    },
    {
      usage: 'evidence delete <pack>',
      help: 'Delete an evidence pack; one that is being made is cancelled',
      load: () => import('#cli/commands/evidence/delete.ts'),
    },
  ],
}
