// The signature of an authorisation (EIP-3009), which is of typed data (EIP-712) in the domain of the token.
import type { PaymentPayload } from '#contract/payments/x402.ts'
import type { TokenChain } from './chains.ts'
import { recoverAddress } from './recover-address.ts'

const DOMAIN = 'EIP712Domain(string name,string version,uint256 chainId,address verifyingContract)'
const TRANSFER_WITH_AUTHORIZATION =
  'TransferWithAuthorization(address from,address to,uint256 value,uint256 validAfter,uint256 validBefore,bytes32 nonce)'

type Domain = Pick<TokenChain, 'id' | 'token' | 'name' | 'version'>

/** True where the key of `from` signed it for this token. That of a contract, which has no key, never is. */
export async function isSignedByPayer(
  { id, token, name, version }: Domain,
  { signature, authorization }: PaymentPayload['payload'],
): Promise<boolean> {
  const { keccak_256: keccak } = await import('@noble/hashes/sha3.js')
  const hashOf = (words: readonly Uint8Array[]) => keccak(Buffer.concat(words))
  const hashOfText = (text: string) => keccak(Buffer.from(text))
  const { from, to, value, validAfter, validBefore, nonce } = authorization
  const domain = hashOf([...[DOMAIN, name, version].map(hashOfText), word(id), word(BigInt(token))])
  const content = hashOf([
    hashOfText(TRANSFER_WITH_AUTHORIZATION),
    ...[BigInt(from), BigInt(to), value, validAfter, validBefore, BigInt(nonce)].map(word),
  ])
  const digest = hashOf([Buffer.from([0x19, 0x01]), domain, content])
  return (await recoverAddress(digest, signature)) === from
}

/** 32 bytes, as Solidity encodes numbers and addresses. */
const word = (value: bigint): Buffer => Buffer.from(value.toString(16).padStart(64, '0'), 'hex')
