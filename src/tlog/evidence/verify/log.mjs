// The log of receipts (RFC 6962, C2SP signed notes and tlog-proofs), and the arithmetic of charges.
import { createHash, createPublicKey, verify } from 'node:crypto'
import { PackError } from './files.mjs'

const RECEIPT = 'c2sp.org/tlog-proof@v1\n'

export const sha256 = (...pieces) => createHash('sha256').update(Buffer.concat(pieces)).digest()
const nodeHash = (left, right) => sha256(Buffer.from([1]), left, right)
const base64 = (text) => Buffer.from(text, 'base64')
const SPKI = Buffer.from('302a300506032b6570032100', 'hex')

/**
 * The keys of logs by their names: those that the caller keeps, and those of the pack that a kept key signs, or whose
 * handover a kept key has signed. Where no keys are kept, the keys of the pack are used.
 */
export function readKeys(packText, keptText) {
  const own = keysIn('receipt-keys.json', packText)
  if (keptText === undefined) return new Map(own.map(({ origin, key }) => [origin, key]))
  const kept = keysIn('--keys', keptText)
  for (const { origin, key, handover } of own) {
    const isKnown = kept.some((one) => one.origin === origin)
    if (isKnown) continue
    if (kept.some((one) => one.key.equals(key) || isHandover(handover, one.key, key)))
      kept.push({ origin, key })
  }
  return new Map(kept.map(({ origin, key }) => [origin, key]))
}

/** A key's note about its successor. */
function isHandover(text, from, to) {
  const name = `${nameOf(from)}/next-key`
  const body = `${name}\n${to.toString('base64')}\n`
  return typeof text === 'string' && text.startsWith(`${body}\n`) && isSigned(text, name, from)
}

const nameOf = (key) => `ergon-${sha256(key).toString('hex').slice(0, 16)}`

/** True when a key signed a note of one signature: its text up to the blank line, as `name`. */
function isSigned(note, name, key) {
  const end = note.lastIndexOf('\n\n')
  const spki = createPublicKey({ key: Buffer.concat([SPKI, key]), format: 'der', type: 'spki' })
  const id = sha256(Buffer.from(`${name}\n\x01`, 'latin1'), key).subarray(0, 4)
  const [, signer, blob = ''] = /^— (\S+) (\S+)\n$/u.exec(note.slice(end + 2)) ?? []
  const signature = base64(blob)
  return (
    signer === name &&
    signature.length === 68 &&
    signature.toString('base64') === blob &&
    signature.subarray(0, 4).equals(id) &&
    verify(null, Buffer.from(note.slice(0, end + 1)), spki, signature.subarray(4))
  )
}

/** Each log names its key: its name has the first digits of the key's SHA-256. */
function keysIn(file, text) {
  return listIn(file, text).map(({ origin, public_key: text, handover }) => {
    const key = base64(String(text))
    if (key.length !== 32 || !String(origin).startsWith(`${nameOf(key)}/`))
      throw new PackError(file, `the log ${origin} does not name its key`)
    return { origin, key, handover }
  })
}

function listIn(file, text) {
  try {
    const { keys } = JSON.parse(text)
    if (Array.isArray(keys)) return keys
  } catch {
    // Said below.
  }
  throw new PackError(file, 'it is no list of keys')
}

/** Reads and checks receipts. The checkpoint of many is the same: its signature is checked once. */
export function createReceipts(keys) {
  const heads = new Map()
  const path = createPath()
  const headOf = (file, note) => {
    const known = heads.get(note)
    if (known !== undefined) return known
    const [origin = '', size = '', root = '', ...rest] = note
      .slice(0, note.lastIndexOf('\n\n') + 1)
      .split('\n')
    const key = keys.get(origin)
    if (key === undefined) throw new PackError(file, `there is no key of the log ${origin}`)
    const isForm = rest.length === 1 && base64(root).toString('base64') === root
    if (!isForm || !isSigned(note, origin, key))
      throw new PackError(file, `the checkpoint of ${origin} is not signed by its key`)
    const head = { origin, key, size: Number(size), root: base64(root) }
    heads.set(note, head)
    return head
  }
  return {
    /** A receipt as text: its charge, its number in the account, and the log. */
    read(file, text) {
      const blank = text.indexOf('\n\n')
      const [magic, extraLine = '', indexLine = '', ...hashes] = text.slice(0, blank).split('\n')
      const extra = base64(extraLine.slice(6))
      const isForm =
        `${magic}\n` === RECEIPT &&
        extraLine === `extra ${extra.toString('base64')}` &&
        /^index (0|[1-9]\d{0,15})$/.test(indexLine) &&
        hashes.length < 64
      const proof = isForm ? hashes.map(path.siblingOf) : []
      if (blank < 0 || !isForm || proof.includes(undefined))
        throw new PackError(file, 'a receipt cannot be read')
      const [seq, bytes] = [extra.subarray(0, 8), extra.subarray(8)]
      const { origin, key, size, root } = headOf(file, text.slice(blank + 2))
      const leaf = sha256(Buffer.from([0]), sha256(bytes), seq)
      const led = rootOf({ index: Number(indexLine.slice(6)), size, leaf, proof }, path.parentOf)
      const number = seq.readBigUInt64BE()
      if (led?.equals(root) !== true)
        throw new PackError(file, `receipt ${number} is not in the log`)
      return { number, origin, key, charge: readCharge(file, bytes.toString('utf8')) }
    },
  }
}

/**
 * The upper levels of proofs, as the receipt before had them: neighbours in the log have nearly all of them in common.
 * The same text is not decoded again, nor the same pair hashed: that was half of the work.
 */
function createPath() {
  const texts = []
  const siblings = []
  const pairs = []
  return {
    /** Undefined of a text that is no hash. */
    siblingOf(text, level) {
      if (texts[level] === text) return siblings[level]
      const hash = base64(text)
      if (hash.length !== 32 || hash.toString('base64') !== text) return undefined
      texts[level] = text
      return (siblings[level] = hash)
    },
    parentOf(left, right, level) {
      const known = pairs[level]
      if (known?.left.equals(left) && known.right.equals(right)) return known.parent
      const parent = nodeHash(left, right)
      pairs[level] = { left, right, parent }
      return parent
    },
  }
}

/** RFC 9162 §2.1.3.2 */
function rootOf({ index, size, leaf, proof }, parentOf) {
  if (index >= size) return undefined
  let [first, last, root] = [BigInt(index), BigInt(size) - 1n, leaf]
  for (const [level, sibling] of proof.entries()) {
    if (last === 0n) return undefined
    if (first % 2n === 1n || first === last) {
      root = parentOf(sibling, root, level)
      for (; first % 2n === 0n && first > 0n; first /= 2n) last /= 2n
    } else root = parentOf(root, sibling, level)
    first /= 2n
    last /= 2n
  }
  return last === 0n ? root : undefined
}

const sumOf = (parts) => parts.reduce((sum, { energy_nj: energy }) => sum + BigInt(energy), 0n)
export const carbonOf = (energy, factor) => (energy * BigInt(factor.mg_per_kwh)) / 3_600_000n

/** The carbon of the parts that were spent here, together, and of each elsewhere. */
export const carbonHere = ({ parts, factor }) =>
  carbonOf(sumOf(parts.filter((part) => !part.factor)), factor)
const carbonElsewhere = ({ parts }) =>
  parts.reduce((sum, part) => (part.factor ? sum + carbonOf(sumOf([part]), part.factor) : sum), 0n)

function readCharge(file, text) {
  try {
    const charge = JSON.parse(text)
    const energy = BigInt(charge.energy_nj)
    const price = charge.free ? 0n : (energy * BigInt(charge.pusd_per_j)) / 1_000_000_000n
    const holds =
      sumOf(charge.parts) === energy &&
      price === BigInt(charge.charge_pusd) &&
      carbonHere(charge) + carbonElsewhere(charge) === BigInt(charge.carbon_pg)
    if (holds) return charge
    throw new PackError(
      file,
      `the figures of the charge ${charge.id} do not follow from each other`,
    )
  } catch (error) {
    throw error instanceof PackError ? error : new PackError(file, 'a charge cannot be read')
  }
}
