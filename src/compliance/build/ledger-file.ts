// ledger.csv: each posting of the account's money in the time, the oldest first and with the balance after each.
// Charges are in the order of their numbers.
import type { Charge } from '#contract/ledger/charge.ts'
import { serviceOf } from '#contract/operations.ts'
import { csvLine, PACK_COLUMNS, packCells, type PackLine } from '#ledger/ledger-csv.ts'
import type { AccountTransfer } from '#ledger/account-transfers.ts'

export type LedgerFile = {
  /** The lines of the next charges, and of the transfers before them. */
  lines(charges: Iterable<Charge>): string
  /** The transfers after the last charge. */
  rest(): string
  readonly head: string
  sums(): LedgerFileSums
}

export type LedgerFileSums = {
  readonly entries: number
  readonly opening_pusd: string
  readonly in_pusd: string
  readonly out_pusd: string
  readonly closing_pusd: string
}

export function createLedgerFile(
  from: Date,
  opening: bigint,
  transfers: readonly AccountTransfer[],
): LedgerFile {
  let balance = opening
  let entries = 0
  const moved = { in: 0n, out: 0n }
  let next = 0
  const line = (entry: PackLine): string => {
    const amount = BigInt(entry.amount_pusd)
    balance += amount
    entries++
    if (amount > 0n) moved.in += amount
    else moved.out -= amount
    return csvLine([...packCells(entry), balance.toString()])
  }
  const before = (time: string): string => {
    let text = ''
    for (let one = transfers[next]; one !== undefined; one = transfers[next]) {
      if (one.at.toISOString() >= time) break
      text += line(entryOfTransfer(one))
      next++
    }
    return text
  }
  return {
    head:
      csvLine([...PACK_COLUMNS, 'balance_pusd']) +
      csvLine([...packCells({ ...NOTHING, ...openingOf(from) }), opening.toString()]),
    lines: (charges) => {
      let text = ''
      for (const charge of charges) text += before(charge.to) + line(entryOfCharge(charge))
      return text
    },
    rest: () => before('9999'),
    sums: () => ({
      entries,
      opening_pusd: opening.toString(),
      in_pusd: moved.in.toString(),
      out_pusd: moved.out.toString(),
      closing_pusd: balance.toString(),
    }),
  }
}

const NOTHING = {
  request_id: null,
  service: null,
  operation: null,
  model: null,
  energy_nj: null,
  reference: null,
}

/** The first line, which is no posting: the balance that the time begins with. */
const openingOf = (from: Date) =>
  ({
    id: '',
    at: from.toISOString(),
    kind: 'opening' as PackLine['kind'],
    amount_pusd: '0',
  }) as const

const entryOfTransfer = ({ id, at, kind, amount, reference }: AccountTransfer): PackLine => ({
  ...NOTHING,
  id,
  at: at.toISOString(),
  kind: kind as PackLine['kind'],
  amount_pusd: amount.toString(),
  reference,
})

const entryOfCharge = (charge: Charge): PackLine => ({
  ...NOTHING,
  id: charge.id,
  at: charge.to,
  kind: 'charge',
  amount_pusd: charge.charge_pusd === '0' ? '0' : `-${charge.charge_pusd}`,
  request_id: charge.id.replace(/^rcpt_/, 'req_'),
  service: serviceOf(charge.operation),
  operation: charge.operation,
  model: charge.model ?? null,
  energy_nj: charge.energy_nj,
})
