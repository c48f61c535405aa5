// A pack in memory, and copies of it that lie: signed anew by a key of ours, as an operator could who holds the key.
import { createHash, generateKeyPairSync, sign } from 'node:crypto'
import { buffer } from 'node:stream/consumers'
import { fromBufferPromise } from 'yauzl'
import { chargeBytes, parseCharge } from '#contract/ledger/charge.ts'
import { checkpointBody, formatNote, originOf } from '#tlog/checkpoint.ts'
import type { PackFiles } from '#tlog/evidence/verify.mjs'
import { parseReceiptKeys, receiptKeysJson } from '#tlog/keys.ts'
import { leafOf } from '#tlog/leaf.ts'
import { formatReceipt, parseReceipt, type Receipt } from '#tlog/proof.ts'

export type PackCopy = Map<string, Buffer>

export async function readPack(zip: Buffer): Promise<PackCopy> {
  const file = await fromBufferPromise(zip)
  const copy: PackCopy = new Map()
  for await (const entry of file.eachEntry())
    copy.set(entry.fileName, await buffer(await file.openReadStreamPromise(entry)))
  return copy
}

export const filesOf = (copy: PackCopy): PackFiles => ({
  names: [...copy.keys()],
  async read(name) {
    const bytes = copy.get(name) ?? Buffer.alloc(0)
    return (async function* () {
      yield bytes
    })()
  },
})

export const textIn = (copy: PackCopy, name: string): string => copy.get(name)?.toString() ?? ''

/** The receipts of a pack, and their place in the copy. */
export function receiptsIn(copy: PackCopy): { readonly name: string; readonly list: Receipt[] } {
  const name = [...copy.keys()].find((one) => one.startsWith('receipts/')) ?? ''
  const texts = textIn(copy, name).split(/(?=^c2sp\.org\/tlog-proof@v1$)/m)
  return { name, list: texts.map(parseReceipt) }
}

/** The same pack with other files, and a manifest and a signature that fit them. */
export function forged(
  copy: PackCopy,
  change: (files: PackCopy, key: ForgerKey) => void,
): PackCopy {
  const files: PackCopy = new Map(copy)
  const proof = parseReceipt(textIn(files, 'manifest.tlog-proof'))
  files.delete('manifest.tlog-proof')
  files.delete('manifest.sha256')
  const key = forgerKey()
  const keys = parseReceiptKeys(textIn(files, 'receipt-keys.json'))
  const page = receiptKeysJson([...keys, key.key])
  files.set('receipt-keys.json', Buffer.from(JSON.stringify(page)))
  change(files, key)
  const lines = [...files].map(([name, bytes]) => `${sha256Hex(bytes)}  ${name}\n`)
  files.set('manifest.sha256', Buffer.from(lines.join('')))
  const subject = sha256Hex(files.get('manifest.sha256') ?? '')
  const charge = { ...parseCharge(proof.bytes), subject_sha256: subject }
  const signed = key.seal({ accountSeq: proof.accountSeq, bytes: chargeBytes(charge) })
  files.set('manifest.tlog-proof', Buffer.from(formatReceipt(signed)))
  return files
}

export type ForgerKey = ReturnType<typeof forgerKey>

/** A log of one leaf for each receipt. */
export function forgerKey() {
  const pair = generateKeyPairSync('ed25519')
  const publicKey = pair.publicKey.export({ format: 'der', type: 'spki' }).subarray(-32)
  const origin = originOf(publicKey, '2026')
  return {
    key: { origin, shard: '2026', publicKey, validFrom: '2026-01-01T00:00:00.000Z' },
    note: (body: string) =>
      formatNote(body, sign(null, Buffer.from(body), pair.privateKey), publicKey),
    seal(content: Pick<Receipt, 'accountSeq' | 'bytes'>): Receipt {
      const body = checkpointBody({ origin, size: 1, root: leafOf(content) })
      const signature = sign(null, Buffer.from(body), pair.privateKey)
      return { ...content, index: 0, proof: [], checkpoint: formatNote(body, signature, publicKey) }
    },
  }
}

export const sha256Hex = (bytes: string | Buffer) =>
  createHash('sha256').update(bytes).digest('hex')
