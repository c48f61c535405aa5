// Checks a receipt offline: who signed, that the charge is in the log, and that its figures follow
// from each other. Nothing here trusts the service that issued it, only the keys that were pinned.
import { fault } from '#contract/errors.ts'
import { type ErgonError, messageOf } from '#base/errors.ts'
import { parseCharge, type Charge } from '#contract/ledger/charge.ts'
import { isSignedBy, parseCheckpoint, parseNote, type Checkpoint, type Note } from './checkpoint.ts'
import type { ReceiptKey } from './keys.ts'
import { leafOf } from './leaf.ts'
import { parseReceipt, type Receipt } from './proof.ts'
import { inclusionRoot } from './tree.ts'

/**
 * In the order in which they are made; each needs the ones before it. The last three are made by clients: by one that
 * asked for an id (asked-charge.ts), by one that reads the ledger (ledger-row.ts), and by one that keeps tree heads
 * (history.ts).
 */
export type CheckName =
  | 'format'
  | 'key'
  | 'signature'
  | 'inclusion'
  | 'charge'
  | 'asked'
  | 'ledger'
  | 'history'
/** `detail` is one sentence that may be shown as it is. */
export type Check = { readonly name: CheckName; readonly ok: boolean; readonly detail: string }

/** The result of a verification. `charge` is present only when every check holds. */
export type Verified = {
  readonly ok: boolean
  readonly checks: readonly Check[]
  readonly charge?: Charge
  readonly accountSeq?: bigint
  readonly index?: number
  readonly checkpoint?: Checkpoint
}

/**
 * Checks a receipt (`.tlog-proof` text or its JSON form) against pinned keys. Never throws for the content of the
 * text: the first failed check has the reason, and later ones are not made.
 */
export function verifyReceipt(text: string, keys: readonly ReceiptKey[]): Verified {
  const checks: Check[] = []
  let doing: CheckName = 'format'
  const passed = (detail: string, next: CheckName): void => {
    checks.push({ name: doing, ok: true, detail })
    doing = next
  }
  try {
    const receipt = parseReceipt(text)
    const note = parseNote(receipt.checkpoint)
    const checkpoint = parseCheckpoint(note.body)
    passed(`A receipt of the log ${checkpoint.origin}`, 'key')
    const key = findKey(keys, checkpoint.origin)
    passed(`The key is pinned: ${key.publicKey.toString('hex')}`, 'signature')
    requireSignature(note, key)
    passed('The checkpoint is signed by that key (Ed25519)', 'inclusion')
    requireInclusion(receipt, checkpoint)
    passed(`The charge is leaf ${receipt.index} of ${checkpoint.size} in the log`, 'charge')
    const charge = parseCharge(receipt.bytes)
    passed('Energy, carbon and price follow from the fields of the charge', 'charge')
    return {
      ok: true,
      checks,
      charge,
      accountSeq: receipt.accountSeq,
      index: receipt.index,
      checkpoint,
    }
  } catch (error) {
    checks.push({ name: doing, ok: false, detail: messageOf(error) })
    return { ok: false, checks }
  }
}

function findKey(keys: readonly ReceiptKey[], origin: string): ReceiptKey {
  const key = keys.find((each) => each.origin === origin)
  if (key === undefined) throw refused(`No pinned key for the log: ${origin}`)
  return key
}

function requireSignature(note: Note, { origin, publicKey }: ReceiptKey): void {
  if (!isSignedBy(note, origin, publicKey))
    throw refused(`The checkpoint is not signed by the key of the log: ${origin}`)
}

function requireInclusion(receipt: Receipt, { size, root }: Checkpoint): void {
  const { index, proof } = receipt
  const led = inclusionRoot({ index, size, leaf: leafOf(receipt), proof })
  if (led === undefined || !led.equals(root))
    throw refused(`The proof does not lead to the signed tree head: leaf ${index} of ${size}`)
}

const refused = (message: string): ErgonError => fault('receipt_invalid', message)
