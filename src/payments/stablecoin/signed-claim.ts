// The claim of a transfer: a text that the sender of the transfer signs, so that nobody claims another's (EIP-191,
// personal_sign). The text names the account that gets the money.
import { fault } from '#contract/errors.ts'
import { recoverAddress } from './recover-address.ts'

/** The text that wallets show before they sign. */
export const claimText = (claim: {
  readonly account: string
  readonly network: string
  readonly transaction: string
}): string =>
  `Ergon: transaction ${claim.transaction} on ${claim.network} tops up account ${claim.account}`

/** The address that signed a text. Throws transfer_refused where nobody can have. */
export async function signerOf(text: string, signature: string): Promise<string> {
  const { keccak_256: keccak } = await import('@noble/hashes/sha3.js')
  const bytes = Buffer.from(text)
  const prefix = Buffer.from(`\x19Ethereum Signed Message:\n${bytes.length}`)
  const signer = await recoverAddress(keccak(Buffer.concat([prefix, bytes])), signature)
  if (signer === undefined)
    throw fault('transfer_refused', 'Could not accept the transfer: the signature is none', {
      details: { reason: 'unsigned' },
    })
  return signer
}
