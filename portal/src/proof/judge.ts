// The judgement of a receipt, with the verifier and the rules of pins of the command line.
import { messageOf } from '#base/errors.ts'
import { fromBase64, type Checkpoint } from '#tlog/checkpoint.ts'
import { otherCharge } from '#tlog/asked-charge.ts'
import { historyFault, PartMissing, type LogReader } from '#tlog/history.ts'
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
  const other = charge && otherCharge(asked.id, charge)
  const { fault, uncompared } =
    checkpoint === undefined || seen === undefined || other !== undefined
      ? COMPARED
      : await compareHistory(seen, checkpoint, read)
  const unread = refused.find(({ origin, isUnread }) => isUnread && receipt.includes(origin))?.why
  const refusedCheck = checks.find((check) => !check.ok)
  // A key that could not be checked has not failed: the log may vouch for it when it is read.
  const isUnread = refusedCheck?.name === 'key' && unread !== undefined
  const failed =
    (isUnread ? undefined : refusedCheck) ??
    (other === undefined ? undefined : { name: 'asked', detail: other }) ??
    (fault === undefined ? undefined : { name: 'history', detail: fault })
  return {
    isSound: ok && failed === undefined && uncompared === undefined,
    failed: failed && { check: failed.name, why: failed.detail },
    uncompared: isUnread ? unread : uncompared,
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

type Comparison = {
  readonly fault: string | undefined
  /** Why nothing could be compared. */
  readonly uncompared: string | undefined
}
const COMPARED: Comparison = { fault: undefined, uncompared: undefined }

/**
 * A log that does not have its tiles any more is as bad as another history: a log that went back to an old copy lacks them.
 * A log that could not be asked says nothing of its history.
 */
async function compareHistory(
  seen: TreeHead,
  head: Checkpoint,
  read: LogReader,
): Promise<Comparison> {
  try {
    return { ...COMPARED, fault: await historyFault(seen, head, read) }
  } catch (error) {
    const why = messageOf(error)
    if (!(error instanceof PartMissing)) return { ...COMPARED, uncompared: why }
    const what = `whether its ${head.size} leaves go with the ${seen.size} that this browser saw before`
    return { ...COMPARED, fault: `Could not check ${what}: ${why}` }
  }
}
