// The judgement of a receipt, with the verifier and the rules of pins of the command line.
import type { LogReader } from '#tlog/history.ts'
import { parseReceiptKeys } from '#tlog/keys.ts'
import { leafOf } from '#tlog/leaf.ts'
import { vouchedKeys } from '#tlog/links.ts'
import { parseReceipt } from '#tlog/proof.ts'
import { verifyReceipt } from '#tlog/verify.ts'
import type { Asked, Verdict } from './verdict.ts'

/** Throws ErgonError `receipt_keys_invalid` for a list in which a key was swapped. */
export async function judge(
  { receipt, pinned, published }: Asked,
  read: LogReader,
): Promise<Verdict> {
  const known = parseReceiptKeys(pinned)
  const offered = parseReceiptKeys(published)
  const { added, refused } =
    known.length === 0
      ? { added: offered, refused: [] }
      : await vouchedKeys(offered, { keys: known, heads: new Map() }, { acceptNewKey: false, read })
  const started = performance.now()
  const { ok, checks, charge, accountSeq, index, checkpoint } = verifyReceipt(receipt, [
    ...known,
    ...added,
  ])
  const failed = checks.find((check) => !check.ok)
  const sound = ok ? parseReceipt(receipt) : undefined
  return {
    isSound: ok,
    failed: failed === undefined ? undefined : { check: failed.name, why: failed.detail },
    pinned: added.map(({ origin }) => origin),
    refusedKey:
      failed?.name === 'key'
        ? refused.find(({ origin }) => receipt.includes(origin))?.why
        : undefined,
    charge,
    accountSeq: accountSeq?.toString(),
    leafHash: sound === undefined ? undefined : leafOf(sound).toString('hex'),
    entry: index,
    headSize: checkpoint?.size,
    origin: checkpoint?.origin,
    steps: sound?.proof.length,
    tookMs: performance.now() - started,
  }
}
