// The judgement of a receipt, with the verifier and the rules of pins of the command line.
import { messageOf } from '#base/errors.ts'
import { fromBase64, type Checkpoint } from '#tlog/checkpoint.ts'
import { historyFault, type LogReader } from '#tlog/history.ts'
import { parseReceiptKeys } from '#tlog/keys.ts'
import { leafOf } from '#tlog/leaf.ts'
import { vouchedKeys } from '#tlog/links.ts'
import { parseReceipt } from '#tlog/proof.ts'
import type { TreeHead } from '#tlog/tree.ts'
import { verifyReceipt } from '#tlog/verify.ts'
import type { Asked, Verdict } from './verdict.ts'

/** Throws ErgonError `receipt_keys_invalid` for a list in which a key was swapped. */
export async function judge(asked: Asked, read: LogReader): Promise<Verdict> {
  const { receipt } = asked
  const heads = new Map(
    asked.heads.map(({ origin, size, root }) => [origin, { size, root: fromBase64(root) }]),
  )
  const known = parseReceiptKeys(asked.pinned)
  const offered = parseReceiptKeys(asked.published)
  const { added, refused } =
    known.length === 0
      ? { added: offered, refused: [] }
      : await vouchedKeys(offered, { keys: known, heads }, { acceptNewKey: false, read })
  const started = performance.now()
  const { ok, checks, charge, accountSeq, index, checkpoint } = verifyReceipt(receipt, [
    ...known,
    ...added,
  ])
  const sound = ok ? parseReceipt(receipt) : undefined
  const tookMs = performance.now() - started
  const seen = checkpoint && heads.get(checkpoint.origin)
  const why = checkpoint && seen && (await otherHistory(seen, checkpoint, read))
  const failed =
    why === undefined ? checks.find((check) => !check.ok) : { name: 'history', detail: why }
  return {
    isSound: failed === undefined,
    failed: failed && { check: failed.name, why: failed.detail },
    pinned: added.map(({ origin }) => origin),
    refusedKey:
      failed?.name === 'key'
        ? refused.find(({ origin }) => receipt.includes(origin))?.why
        : undefined,
    charge,
    accountSeq: accountSeq?.toString(),
    leafHash: sound === undefined ? undefined : leafOf(sound).toString('hex'),
    entry: index,
    head: checkpoint && { ...checkpoint, root: checkpoint.root.toString('base64') },
    seenSize: seen?.size,
    steps: sound?.proof.length,
    tookMs,
  }
}

/** A log that cannot show its tiles is as bad as another history: a log that went back to an old copy lacks them. */
async function otherHistory(
  seen: TreeHead,
  head: Checkpoint,
  read: LogReader,
): Promise<string | undefined> {
  try {
    return await historyFault(seen, head, read)
  } catch (error) {
    return `Could not check whether its ${head.size} leaves go with the ${seen.size} that this browser saw before: ${messageOf(error)}`
  }
}
