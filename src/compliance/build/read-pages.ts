// The charges of a pack, page by page.
import { parseCharge, type Charge } from '#contract/ledger/charge.ts'
import { readCharges, type AccountCharge, type ChargeRange } from '#ledger/account-charges.ts'
import type { Queryable } from '#state/connect.ts'
import type { DuePack } from './pack-work.ts'

/** All charges of a range, by number. `read` gets the number of each page. */
export async function* readPages(
  { state, pageReceipts }: { readonly state: Queryable; readonly pageReceipts: number },
  account: string,
  range: ChargeRange,
  read: (count: number) => void,
): AsyncGenerator<readonly AccountCharge[]> {
  for (let { first } = range; first <= range.last;) {
    const page = await readCharges(state, account, { ...range, first }, pageReceipts)
    const last = page.at(-1)
    if (last === undefined) return
    yield page
    read(page.length)
    first = last.accountSeq + 1n
  }
}

/** The charges of a page that end in the time of the pack. */
export function* chargesIn(
  page: readonly AccountCharge[],
  { from, to }: Pick<DuePack, 'from' | 'to'>,
): Generator<Charge> {
  const [begin, end] = [from.toISOString(), to.toISOString()]
  for (const { bytes } of page) {
    const charge = parseCharge(bytes)
    if (charge.to >= begin && charge.to < end) yield charge
  }
}
