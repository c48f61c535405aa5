// The commands of payments: the balance, its ledger, vouchers.
import type { CommandList } from '#cli/command-spec.ts'
import { SPAN_OPTIONS } from '#cli/span.ts'

export const PAYMENTS_COMMANDS: CommandList = {
  groups: {
    card: 'The cards that the account pays with',
    voucher: 'Points that are redeemed by a code',
    'admin voucher': 'Vouchers: points that accounts redeem once',
    'admin refund': 'Refunds by stablecoin: the operator sends the tokens',
  },
  commands: [
    {
      usage: 'balance',
      help: 'The balance of the account, and its parts',
      load: () => import('#cli/commands/balance.ts'),
    },
    {
      usage: 'ledger',
      help: 'Each posting of the account’s money, the newest first',
      options: [
        ['--since <duration>', 'how far back, such as 12h or 7d (default: all)'],
        ...SPAN_OPTIONS,
        ['--service <service>', 'charges of one service, such as inference'],
        ['--kind <kind>', 'charge, topup, hold, voucher, grant, expired, refund …'],
        ['--id <id>', 'entries of a receipt, request, payment or voucher'],
        ['--limit <n>', 'at most so many (default 100)'],
        ['--csv', 'as CSV; with --limit, else all of them'],
      ],
      load: () => import('#cli/commands/ledger.ts'),
    },
    {
      usage: 'account',
      help: 'The account: its low-water mark and automatic top-ups, and their change',
      options: [
        ['--low-water <amount>', 'the mark of balance.low, in dollars'],
        ['--auto <amount>', 'automatic top-ups of an amount, or off'],
        ['--below <amount>', 'begins one when the balance is below it'],
        ['--month-max <amount>', 'the most that they bring in a month'],
      ],
      load: () => import('#cli/commands/account.ts'),
    },
    {
      usage: 'account error-rate',
      help: 'Requests that the service failed, and the name of the account on the status page',
      options: [['--new-name', 'another name at random; the counts begin anew']],
      load: () => import('#cli/commands/account/error-rate.ts'),
    },
    {
      usage: 'account export [file]',
      help: 'Every record of the account, a JSON object a line, to a file or (without one, or -) the standard output',
      load: () => import('#cli/commands/account/export.ts'),
    },
    {
      usage: 'account delete [account]',
      help: 'Delete the account with everything that it has; for some days it can be restored',
      options: [['--at-once', 'of a test account: it cannot be restored']],
      load: () => import('#cli/commands/account/delete.ts'),
    },
    {
      usage: 'account restore',
      help: 'Take the deletion of the account back',
      load: () => import('#cli/commands/account/restore.ts'),
    },
    {
      usage: 'topup [amount]',
      help: 'Pay into the balance by card or stablecoin, in dollars such as 20 or 20.50',
      options: [
        ['--card <card>', 'which card (default: the newest)'],
        ['--hold', 'in place of an amount: hold $5 until something is used'],
        ['--stablecoin', 'print how to pay by a transfer of tokens'],
        ['--transaction <hash>', 'in place of an amount: claim the transfer of tokens in it'],
        [
          '--signature <hex>',
          'of the claim, by the wallet that sent them; without it the text is printed',
        ],
        ['--network <network>', 'of the transaction, such as eip155:8453 (default: the first one)'],
      ],
      load: () => import('#cli/commands/topup.ts'),
    },
    {
      usage: 'topup cancel <payment>',
      help: 'Give up a payment by card that waits for the bank or the processor',
      load: () => import('#cli/commands/topup/cancel.ts'),
    },
    {
      usage: 'payments',
      help: 'Payments, the newest first',
      load: () => import('#cli/commands/payments.ts'),
    },
    {
      usage: 'refund <payment>',
      help: 'Give back the unspent part of a payment',
      options: [['--amount <amount>', 'in dollars (default: all of the unspent part)']],
      load: () => import('#cli/commands/refund.ts'),
    },
    {
      usage: 'card add [token]',
      help: 'A card: prints the page of the processor that takes it, and waits; with a token of the processor without a page',
      load: () => import('#cli/commands/card/add.ts'),
    },
    { usage: 'card list', help: 'The cards', load: () => import('#cli/commands/card/list.ts') },
    {
      usage: 'card remove <card>',
      help: 'It pays no more',
      load: () => import('#cli/commands/card/remove.ts'),
    },
    {
      usage: 'voucher redeem <code>',
      help: 'Points into the balance',
      load: () => import('#cli/commands/voucher/redeem.ts'),
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
      load: () => import('#cli/commands/admin/voucher-create.ts'),
    },
    {
      usage: 'admin voucher list',
      help: 'Vouchers without their codes, and who redeemed them',
      load: () => import('#cli/commands/admin/voucher-list.ts'),
    },
    {
      usage: 'admin refund list',
      help: 'Refunds of stablecoin payments that wait for tokens to be sent',
      load: () => import('#cli/commands/admin/refund-list.ts'),
    },
    {
      usage: 'admin refund settle <refund> <transaction>',
      help: 'The tokens were sent in a transaction, which is checked',
      options: [
        ['--from <address>', 'the wallet that sent them (default: the receiver of payments)'],
      ],
      load: () => import('#cli/commands/admin/refund-settle.ts'),
    },
    {
      usage: 'admin refund refuse <refund>',
      help: 'No tokens are sent: the money is balance again',
      load: () => import('#cli/commands/admin/refund-refuse.ts'),
    },
    {
      usage: 'admin grant <account> <amount>',
      help: 'Points for an account, without a voucher',
      options: [
        ['--kind <kind>', 'points or promotion (default points)'],
        ['--priority <n>', 'lower ones are spent first; paid money has 50 (default 20)'],
        ['--lives <days>', 'days that the money lives (default: for ever)'],
      ],
      load: () => import('#cli/commands/admin/grant.ts'),
    },
  ],
}
