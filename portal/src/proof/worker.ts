// Verifies a receipt away from the page, with the verifier of the command line.
import './globals.ts'
import { parseReceipt } from '#tlog/proof.ts'
import { parseReceiptKeys } from '#tlog/keys.ts'
import { leafOf } from '#tlog/leaf.ts'
import { verifyReceipt } from '#tlog/verify.ts'
import type { Asked, Verdict } from './verdict.ts'

addEventListener('message', ({ data }: MessageEvent<Asked>) => {
  postMessage(judge(data))
})

function judge({ receipt, keys }: Asked): Verdict {
  const started = performance.now()
  const { ok, checks, charge, accountSeq, index, checkpoint } = verifyReceipt(
    receipt,
    parseReceiptKeys(keys),
  )
  const failed = checks.find((check) => !check.ok)
  const read = ok ? parseReceipt(receipt) : undefined
  return {
    isSound: ok,
    failed: failed === undefined ? undefined : { check: failed.name, why: failed.detail },
    charge,
    accountSeq: accountSeq?.toString(),
    leafHash: read === undefined ? undefined : leafOf(read).toString('hex'),
    entry: index,
    headSize: checkpoint?.size,
    origin: checkpoint?.origin,
    steps: read?.proof.length,
    tookMs: performance.now() - started,
  }
}
