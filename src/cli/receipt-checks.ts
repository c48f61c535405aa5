// The checks of a receipt that need more than its text: the id that was asked for, the row of the ledger, and the history
// of the log. A check that the service cannot answer now is not made: it neither holds nor fails.
import { messageOf } from '#base/errors.ts'
import type { ledgerList } from '#contract/payments/payments.ts'
import { otherCharge } from '#tlog/asked-charge.ts'
import type { Checkpoint } from '#tlog/checkpoint.ts'
import { historyFault } from '#tlog/history.ts'
import { leafOf } from '#tlog/leaf.ts'
import { rowsFault, type RowFigures } from '#tlog/ledger-row.ts'
import { parseReceipt } from '#tlog/proof.ts'
import type { Check, CheckName, Verified } from '#tlog/verify.ts'
import { apiGet, ApiRefusal, replyOf, Unreachable, type ApiAnswer } from './client.ts'
import { CommandError, EXIT, tell } from './output.ts'
import { isOfService, logReader, type PinnedKeys } from './pinned-keys.ts'
import { knownBaseUrl, knownToken, type GlobalOptions } from './profile.ts'

/** A check with what ends the command, where the check does not hold. */
export type ServiceCheck = {
  readonly check: Check
  /** Absent also where a check that was not made leaves the receipt as sound as its signature. */
  readonly end?: CommandError
  /** False: nothing could be compared. */
  readonly isMade: boolean
}

const holds = (name: CheckName, detail: string): ServiceCheck => ({
  check: { name, ok: true, detail },
  isMade: true,
})
const fails = (name: CheckName, detail: string, next: string): ServiceCheck => ({
  check: { name, ok: false, detail },
  end: new CommandError(detail, EXIT.receipt, next),
  isMade: true,
})
const isUnmade = (name: CheckName, detail: string, error: unknown): ServiceCheck => ({
  check: { name, ok: false, detail },
  end: unread(detail, name === 'ledger' ? 'the ledger' : 'the log', error),
  isMade: false,
})

/** The end of a command that could not read a part of the service: a fault of the way to it, not of the receipt. */
export const unread = (detail: string, part: 'the ledger' | 'the log', error?: unknown) =>
  new CommandError(
    detail,
    EXIT.failed,
    `${part} could not be read: try again`,
    error instanceof CommandError ? error.code : 'unreachable',
  )

/** A service may answer with the sound receipt of another charge, whose figures are of no use to the reader then. */
export function checkAsked(id: string | undefined, held: Verified): Verified {
  if (id === undefined || held.charge === undefined) return held
  const other = otherCharge(id, held.charge)
  const check = (ok: boolean, detail: string) => [
    ...held.checks,
    { name: 'asked' as const, ok, detail },
  ]
  if (other === undefined)
    return { ...held, checks: check(true, `This is the receipt of ${id}, as was asked`) }
  return { ok: false, checks: check(false, other) }
}

const ANOTHER_ROW =
  'keep this receipt and `ergon ledger --id` of its id: the receipt is signed; ask the operator which of the two was paid'

const NO_ROW =
  'keep this receipt: it is signed, and the balance of the account has no such charge; ask the operator why'

/**
 * Compares a receipt that the service gave for an id with the row of the ledger of that id. Some tokens may not read the
 * ledger: then nothing is compared.
 */
export async function checkLedger(
  asked: { readonly id: string | undefined; readonly text: string; readonly held: Verified },
  options: GlobalOptions,
): Promise<ServiceCheck | undefined> {
  const { id, text, held } = asked
  const { charge } = held
  if (id === undefined || charge === undefined || knownToken(options) === undefined)
    return undefined
  try {
    const page = await apiGet(options, `/v1/ledger?id=${encodeURIComponent(id)}`)
    const rows = rowsIn(page)
    const leafHash = leafOf(parseReceipt(text)).toString('hex')
    const fault = rowsFault(id, rows, { charge, leafHash })
    if (fault !== undefined) return fails('ledger', fault, rows.length > 0 ? ANOTHER_ROW : NO_ROW)
    return rows.length > 0
      ? holds('ledger', 'The row of the ledger has the same leaf, joules and price')
      : uncompared('the ledger of this account has no row of this id')
  } catch (error) {
    if (error instanceof ApiRefusal && error.status === 403)
      return uncompared('this token may not read it')
    const detail = `Could not compare the receipt with the ledger: ${messageOf(error)}`
    return isUnmade('ledger', detail, error)
  }
}

function rowsIn(page: ApiAnswer): readonly RowFigures[] {
  return replyOf<typeof ledgerList>(page).data.filter(({ kind }) => kind === 'charge')
}

const uncompared = (why: string): ServiceCheck => ({
  check: { name: 'ledger', ok: false, detail: `Not compared with the ledger: ${why}` },
  isMade: false,
})

const ANOTHER_HISTORY =
  'keep this receipt and receipt-keys.json: both heads are signed; ask the operator whether an old copy was put back'

/**
 * Compares the receipt's tree head with the last tree head seen, by a consistency proof from the log's tiles. A
 * receipt that the service gave needs such a proof. A file may lack the proof where no service answers, or another
 * service does; the result then says so. A log that lacks its tiles is as bad as another history.
 */
export async function checkHistory(
  head: Checkpoint | undefined,
  pinned: PinnedKeys,
  { options, isFile }: { options: GlobalOptions; isFile: boolean },
): Promise<ServiceCheck | undefined> {
  const seen = head && pinned.heads.get(head.origin)
  if (head === undefined || seen === undefined) return undefined
  const name = 'history'
  try {
    const fault = await historyFault(seen, head, logReader(options))
    if (fault !== undefined) return fails(name, fault, ANOTHER_HISTORY)
    return holds(
      name,
      `The tree heads of ${seen.size} leaves, seen before, and of ${head.size} are of one history`,
    )
  } catch (error) {
    const what = `whether the ${head.size} leaves of ${head.origin} go with the ${seen.size} that were seen before`
    const isAway = error instanceof Unreachable || !isOfService(pinned, options, head.origin)
    if (isFile && isAway) {
      tell(`not compared: ${what}: ${awayWords(options)}`)
      return undefined
    }
    const detail = `Could not check ${what}: ${messageOf(error)}`
    return error instanceof CommandError
      ? isUnmade(name, detail, error)
      : fails(name, detail, ANOTHER_HISTORY)
  }
}

/** The reason why a file is not compared with the log of its service. */
export function awayWords(options: GlobalOptions): string {
  const address = knownBaseUrl(options)
  return address === undefined
    ? 'no address of its service was given: --base-url'
    : `its service does not answer here, at ${address}`
}
