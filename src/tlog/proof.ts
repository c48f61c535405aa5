// A receipt as a file: C2SP tlog-proof@v1, whose `extra` is the charge itself, and the same as JSON.
import { fault } from '#contract/errors.ts'
import type { ErgonError } from '#base/errors.ts'
import { fromBase64 } from './checkpoint.ts'
import { HASH_BYTES } from './leaf.ts'

/** All that a receipt says, before anything of it is checked. `checkpoint` is a signed note. */
export type Receipt = {
  readonly accountSeq: bigint
  readonly bytes: Buffer
  readonly index: number
  readonly proof: readonly Buffer[]
  readonly checkpoint: string
}

const MAGIC = 'c2sp.org/tlog-proof@v1'
const SEQ_BYTES = 8
// A tree of 2⁵³ leaves is 53 deep; a receipt of a large charge has some 20 kB.
const PROOF_LENGTH_MAX = 53
const RECEIPT_LENGTH_MAX = 262_144

/** The text of a `.tlog-proof` file; `extra` = base64(u64be(accountSeq) ‖ charge bytes). */
export function formatReceipt(receipt: Receipt): string {
  const seq = Buffer.alloc(SEQ_BYTES)
  seq.writeBigUInt64BE(receipt.accountSeq)
  const extra = Buffer.concat([seq, receipt.bytes]).toString('base64')
  const hashes = receipt.proof.map((hash) => `${hash.toString('base64')}\n`).join('')
  return `${MAGIC}\nextra ${extra}\nindex ${receipt.index}\n${hashes}\n${receipt.checkpoint}`
}

/** Reads a receipt, as `.tlog-proof` text or as JSON. Throws ErgonError `receipt_invalid`. */
export function parseReceipt(text: string): Receipt {
  if (text.length > RECEIPT_LENGTH_MAX) throw invalid('it is too long')
  return text.trimStart().startsWith('{') ? parseJson(text) : parseText(text)
}

function parseText(text: string): Receipt {
  const blank = text.indexOf('\n\n')
  const [magic, extraLine = '', indexLine = '', ...hashes] = text.slice(0, blank).split('\n')
  if (magic !== MAGIC || blank < 0) throw invalid(`its first line is not ${MAGIC}`)
  if (!extraLine.startsWith('extra ')) throw invalid('it carries no charge')
  if (!/^index (0|[1-9][0-9]{0,15})$/.test(indexLine)) throw invalid('its index is not a number')
  const extra = fromBase64(extraLine.slice('extra '.length))
  if (extra.length <= SEQ_BYTES) throw invalid('it carries no charge')
  return {
    accountSeq: extra.readBigUInt64BE(0),
    bytes: extra.subarray(SEQ_BYTES),
    index: Number(indexLine.slice('index '.length)),
    proof: parseHashes(hashes),
    checkpoint: text.slice(blank + 2),
  }
}

/** The JSON form. `charge` is for people; what is checked is `charge_bytes`. */
export type ReceiptJson = {
  readonly id: string
  readonly charge: unknown
  readonly charge_bytes: string
  readonly account_seq: string
  readonly index: string
  readonly proof: readonly string[]
  readonly checkpoint: string
}

/** The receipt of the charge `id` as JSON: bytes as base64, counters as text. */
export const receiptJson = (id: string, receipt: Receipt): ReceiptJson => ({
  id,
  charge: readJson(receipt.bytes.toString('utf8')),
  charge_bytes: receipt.bytes.toString('base64'),
  account_seq: receipt.accountSeq.toString(),
  index: String(receipt.index),
  proof: receipt.proof.map((hash) => hash.toString('base64')),
  checkpoint: receipt.checkpoint,
})

function parseJson(text: string): Receipt {
  const read = readJson(text) as Readonly<Record<keyof ReceiptJson, unknown>>
  const accountSeq = read.account_seq
  const index = read.index
  if (typeof accountSeq !== 'string' || !/^(0|[1-9][0-9]{0,18})$/.test(accountSeq))
    throw invalid('its account_seq is not a number')
  if (typeof index !== 'string' || !/^(0|[1-9][0-9]{0,15})$/.test(index))
    throw invalid('its index is not a number')
  if (typeof read.charge_bytes !== 'string' || typeof read.checkpoint !== 'string')
    throw invalid('it lacks charge_bytes or checkpoint')
  if (!Array.isArray(read.proof)) throw invalid('its proof is not a list')
  const receipt = {
    accountSeq: BigInt(accountSeq),
    bytes: fromBase64(read.charge_bytes),
    index: Number(index),
    proof: parseHashes(read.proof),
    checkpoint: read.checkpoint,
  }
  // The proof is over the bytes that the reader sees.
  const proven = receiptJson(String(read.id), receipt)
  if (JSON.stringify(proven.charge) !== JSON.stringify(read.charge) || proven.id !== idOf(proven))
    throw invalid('its charge or id is not that of charge_bytes')
  return receipt
}

const idOf = (receipt: ReceiptJson): unknown =>
  typeof receipt.charge === 'object' && receipt.charge !== null && 'id' in receipt.charge
    ? receipt.charge.id
    : undefined

function readJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (cause) {
    throw invalid('it is not JSON', cause)
  }
}

function parseHashes(texts: readonly unknown[]): Buffer[] {
  if (texts.length > PROOF_LENGTH_MAX) throw invalid('its proof is too long')
  return texts.map((text) => fromBase64(typeof text === 'string' ? text : '', HASH_BYTES))
}

const invalid = (detail: string, cause?: unknown): ErgonError =>
  fault('receipt_invalid', `Could not read the receipt: ${detail}`, {
    cause,
  })
