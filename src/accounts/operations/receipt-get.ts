// GET /v1/receipts/{id}: the receipt for the account that owns it; receipts of unattributed requests are public.
import type { Posted } from '#ledger/posted.ts'
import { fault } from '#contract/errors.ts'
import type { Clock } from '#base/clock.ts'
import { idTimeMs, isId } from '#base/ids.ts'
import type { Handler, Reply } from '#http/reply.ts'
import type { Receipts } from '#receipts/prove.ts'
import { formatReceipt, receiptJson } from '#tlog/proof.ts'

const NOBODY = 'nobody'
const RETRY_S = 1
/** Time in which an unknown receipt may still be on its way: requests that are refused share one for a second. */
const YOUNG_MS = 5000
/** Waits of callers without a token at once: each asks the state for a tick of every gateway. */
const STRANGERS_MAX = 4

/**
 * 200 with the proof of a sealed charge; 202 before that, and for an id so young that its charge may not be
 * posted yet; 404 for receipts of other accounts. Without a token: 401, except for unattributed receipts.
 */
export function createReceiptGet({ receipts, posted, clock }: ReceiptGetDeps): Handler {
  const postedForStrangers = atMost(STRANGERS_MAX, posted)
  return async ({ caller, parameters, headers, signal }) => {
    const id = receiptIdOf(parameters['receipt'] ?? '')
    const deps = { receipts, posted: caller === undefined ? postedForStrangers : posted }
    const accounts = caller?.account === undefined ? [NOBODY] : [NOBODY, caller.account]
    const answer = await found(id, accounts, deps, signal)
    if (answer.state === 'unknown' && isYoung(id, clock.wallMs())) return unsealed(id)
    if (
      answer.state === 'unknown' ||
      (answer.account !== NOBODY && answer.account !== caller?.account)
    )
      throw caller === undefined
        ? fault('token_missing', `Could not show the receipt without its account's token: "${id}"`)
        : fault('receipt_not_found', `Could not find the receipt: "${id}"`)
    if (answer.state === 'unsealed') return unsealed(id)
    const { receipt } = answer
    const json = headers['accept']?.includes('application/json') === true
    return {
      kind: 'known',
      status: 200,
      contentType: json ? 'application/json' : 'text/plain; charset=utf-8',
      body: () => (json ? receiptJson(id, receipt) : formatReceipt(receipt)),
    }
  }
}

type ReceiptGetDeps = { receipts: Receipts; posted: Posted; clock: Clock }

const unsealed = (id: string): Reply => ({
  kind: 'known',
  status: 202,
  headers: { 'Retry-After': String(RETRY_S) },
  body: () => ({ id, state: 'unsealed' }),
})

const isYoung = (id: string, nowMs: number): boolean =>
  Math.abs(nowMs - (idTimeMs('rcpt', id) ?? 0)) < YOUNG_MS

/** Limit of calls that wait at once; the others get the present answer. */
function atMost(most: number, posted: Posted): Posted {
  let waiting = 0
  return async (signal) => {
    if (waiting === most) return
    waiting++
    await posted(signal).finally(() => waiting--)
  }
}

/** Its id left with the reply, a tick before the charge is posted: unknown is only said after that. */
async function found(
  id: string,
  accounts: readonly string[],
  { receipts, posted }: Pick<ReceiptGetDeps, 'receipts' | 'posted'>,
  signal: AbortSignal,
) {
  const answer = await receipts.find(id, accounts)
  if (answer.state !== 'unknown') return answer
  await posted(signal)
  return await receipts.find(id, accounts)
}

/** A receipt and its request share one body: either id finds it. */
function receiptIdOf(text: string): string {
  const id = text.replace(/^req_/, 'rcpt_')
  if (!isId('rcpt', id))
    throw fault('receipt_not_found', `Could not find the receipt: "${text.slice(0, 100)}"`)
  return id
}
