// The commands of receipts and their signers.
import type { CommandList } from '#cli/command-spec.ts'

export const RECEIPTS_COMMANDS: CommandList = {
  groups: {
    receipt: 'Signed receipts of charges: list, verify',
    signers: 'The processes that sign the log of receipts together',
  },
  commands: [
    {
      usage: 'receipt list',
      help: 'What the account was charged, the newest first',
      options: [
        ['--before <number>', 'only charges older than the one with this number'],
        ['--limit <n>', 'at most so many (default 100, at most 1000)'],
      ],
      load: () => import('#cli/commands/receipt/list.ts'),
    },
    {
      usage: 'receipt verify <receipt>',
      help: 'Check a receipt (an id, or a file: then offline)',
      options: [
        ['--keys <file>', 'the verifier keys (default: those pinned at first use)'],
        ['--accept-new-key', 'pin a log of another key that no pinned one names, if it follows'],
        ['--out <file>', 'keep the receipt as a file'],
      ],
      load: () => import('#cli/commands/receipt/verify.ts'),
    },
    {
      usage: 'signers new-key',
      help: 'A new key for the log of receipts, when signers have lost their share',
      load: () => import('#cli/commands/signers/new-key.ts'),
    },
  ],
}
