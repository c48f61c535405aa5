// The address whose key signed a digest, as `ecrecover` of the chains finds it.

const SIGNATURE = /^0x([0-9a-f]{128})([0-9a-f]{2})$/
/** Wallets write the recovery bit as 0 and 1, or with the 27 of Bitcoin. */
const RECOVERY_OFFSET = 27

/** Undefined where nobody can have signed so. */
export async function recoverAddress(
  digest: Uint8Array,
  signature: string,
): Promise<string | undefined> {
  const [, compact, last] = SIGNATURE.exec(signature.toLowerCase()) ?? []
  const v = Number.parseInt(last ?? '', 16)
  const recovery = v >= RECOVERY_OFFSET ? v - RECOVERY_OFFSET : v
  if (compact === undefined || recovery > 1) return undefined
  const [{ secp256k1 }, { keccak_256: keccak }] = await Promise.all([
    import('@noble/curves/secp256k1.js'),
    import('@noble/hashes/sha3.js'),
  ])
  const recovered = Buffer.concat([Buffer.from([recovery]), Buffer.from(compact, 'hex')])
  try {
    const compressed = secp256k1.recoverPublicKey(recovered, digest, { prehash: false })
    const key = secp256k1.Point.fromBytes(compressed).toBytes(false)
    const hash = Buffer.from(keccak(key.slice(1))).toString('hex')
    return `0x${hash.slice(-40)}`
  } catch {
    return undefined
  }
}
