// The receipts of a pack: C2SP tlog-proofs, one after the other, a thousand in a file. A file for each would be a
// thousand times the entries, which every zip program keeps in memory. Compressed, the proofs of neighbours, which share
// most hashes, take less together.
import type { AccountCharge } from '#ledger/account-charges.ts'
import type { ReceiptBatches } from '#receipts/batch.ts'
import { formatReceipt } from '#tlog/proof.ts'

export type ReceiptFile = { readonly name: string; readonly text: string }

/** One file: named by the first and the last number, which sort as text. */
export async function receiptFile(
  page: readonly AccountCharge[],
  batches: ReceiptBatches,
): Promise<ReceiptFile> {
  const receipts = await batches.of(page)
  const [first, last] = [receipts.at(0), receipts.at(-1)].map((receipt) =>
    String(receipt?.accountSeq).padStart(SEQ_DIGITS, '0'),
  )
  return {
    name: `receipts/${first}-${last}.tlog-proofs`,
    text: receipts.map(formatReceipt).join(''),
  }
}

const SEQ_DIGITS = 12
