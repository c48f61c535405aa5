// The commands of payments: the balance, its ledger, vouchers.
import type { CommandList } from '#cli/command-spec.ts'

export const PAYMENTS_COMMANDS: CommandList = {
  groups: {
    voucher: 'Points that are redeemed by a code',
    'admin voucher': 'Vouchers: points that accounts redeem once',
  },
  commands: [
    {
      usage: 'balance',
      help: 'The balance of the account, and what it is made of',
      load: () => import('./balance.ts'),
    },
    {
      usage: 'ledger',
      help: 'Each posting of the account’s money, the newest first',
      options: [
        ['--since <duration>', 'how far back, such as 12h or 7d (default: all)'],
        ['--service <service>', 'charges of one service, such as inference'],
        ['--kind <kind>', 'charge, topup, hold, voucher, grant, expired, refund …'],
        ['--id <id>', 'what a receipt, request, payment or voucher moved'],
        ['--limit <n>', 'at most so many (default 100)'],
        ['--csv', 'as CSV; with --limit, else all of them'],
      ],
      load: () => import('./ledger.ts'),
    },
    {
      usage: 'voucher redeem <code>',
      help: 'Points into the balance',
      load: () => import('./voucher-redeem.ts'),
    },
    {
      usage: 'admin voucher create <amount>',
      help: 'Vouchers of an amount in dollars; their codes are shown once',
      options: [
        ['--env <env>', 'for test or live accounts (default test)'],
        ['--count <n>', 'how many (default 1)'],
        ['--kind <kind>', 'points or promotion (default points)'],
        ['--priority <n>', 'lower ones are spent first; paid money has 50 (default 20)'],
        ['--lives <days>', 'days that the money lives (default: for ever)'],
        ['--redeemable <days>', 'days in which it can be redeemed (default: for ever)'],
        ['--note <text>', 'to recognise them'],
      ],
      load: () => import('./admin-voucher-create.ts'),
    },
    {
      usage: 'admin voucher list',
      help: 'Vouchers without their codes, and who redeemed them',
      load: () => import('./admin-voucher-list.ts'),
    },
    {
      usage: 'admin grant <account> <amount>',
      help: 'Points for an account, without a voucher',
      options: [
        ['--kind <kind>', 'points or promotion (default points)'],
        ['--priority <n>', 'lower ones are spent first; paid money has 50 (default 20)'],
        ['--lives <days>', 'days that the money lives (default: for ever)'],
      ],
      load: () => import('./admin-grant.ts'),
    },
  ],
}
