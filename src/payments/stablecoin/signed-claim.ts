// The claim of a transfer: a text that the sender of the transfer signs, so that nobody claims another's (EIP-191,
// personal_sign). The text names the account that gets the money.
import { fault } from '#contract/errors.ts'

/** The text that wallets show before they sign. */
export const claimText = (claim: {
  readonly account: string
  readonly network: string
  readonly transaction: string
}): string =>
  `Ergon: transaction ${claim.transaction} on ${claim.network} tops up account ${claim.account}`

const SIGNATURE = /^0x([0-9a-f]{128})([0-9a-f]{2})$/
/** Wallets write the recovery bit as 0 and 1, or with the 27 of Bitcoin. */
const RECOVERY_OFFSET = 27

/** The address that signed a text. Throws transfer_refused where nobody can have. */
export async function signerOf(text: string, signature: string): Promise<string> {
  const [, compact, last] = SIGNATURE.exec(signature.toLowerCase()) ?? []
  const v = Number.parseInt(last ?? '', 16)
  const recovery = v >= RECOVERY_OFFSET ? v - RECOVERY_OFFSET : v
  if (compact === undefined || recovery > 1) throw unsigned()
  const [{ secp256k1 }, { keccak_256: keccak }] = await Promise.all([
    import('@noble/curves/secp256k1.js'),
    import('@noble/hashes/sha3.js'),
  ])
  const bytes = Buffer.from(text)
  const prefix = Buffer.from(`\x19Ethereum Signed Message:\n${bytes.length}`)
  const recovered = Buffer.concat([Buffer.from([recovery]), Buffer.from(compact, 'hex')])
  try {
    const compressed = secp256k1.recoverPublicKey(
      recovered,
      keccak(Buffer.concat([prefix, bytes])),
      { prehash: false },
    )
    const key = secp256k1.Point.fromBytes(compressed).toBytes(false)
    return `0x${Buffer.from(keccak(key.slice(1)))
      .toString('hex')
      .slice(-40)}`
  } catch {
    throw unsigned()
  }
}

const unsigned = () =>
  fault('transfer_refused', 'Could not accept the transfer: the signature is none', {
    details: { reason: 'unsigned' },
  })
