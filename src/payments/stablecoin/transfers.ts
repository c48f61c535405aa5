// Transfers of a token to us, out of the logs of one transaction (ERC-20, EIP-3009).
import { hexOf, quantityOf } from './node.ts'

/** keccak-256 of Transfer(address,address,uint256). */
const TRANSFER = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef'
/** keccak-256 of AuthorizationUsed(address,bytes32). */
export const AUTHORIZATION_USED =
  '0x98de503528ee59b575ef0c0a2576a82497bfc029a5685b209e9ec333479b10a5'

export type TokenTransfer = {
  /** The place of its log in the transaction: a reorganisation changes the index in the block, and not this one. */
  readonly index: number
  readonly sender: string
  readonly units: bigint
  /** The nonce of the authorisation that it carries out; undefined where the sender made it. */
  readonly nonce: string | undefined
}

type TokenReceiver = { readonly token: string; readonly receiver: string }
type TokenLog = { readonly topics: readonly string[]; readonly data: string }

/** The transfers of the token to the receiver. Tokens tell of an authorisation in the log before its transfer. */
export function transfersIn(
  logs: readonly unknown[],
  { token, receiver }: TokenReceiver,
): TokenTransfer[] {
  const own = logs.map((log) => (hexOf(log, 'address') === token ? tokenLog(log) : undefined))
  return own.flatMap((log, index) => {
    const [kind, from, to] = log?.topics ?? []
    if (log === undefined || kind !== TRANSFER || from === undefined || to !== topicOf(receiver))
      return []
    const [before, authorizer, nonce] = own[index - 1]?.topics ?? []
    const isAuthorised = before === AUTHORIZATION_USED && authorizer === from
    return [
      {
        index,
        sender: addressOf(from),
        units: quantityOf(log, 'data'),
        nonce: isAuthorised ? nonce : undefined,
      },
    ]
  })
}

/** An address as an indexed argument of a log. */
export const topicOf = (address: string): string => `0x${address.slice(2).padStart(64, '0')}`

const addressOf = (topic: string): string => `0x${topic.slice(-40)}`

function tokenLog(log: unknown): TokenLog | undefined {
  const topics = (log as { readonly topics?: unknown }).topics
  const data = hexOf(log, 'data')
  if (!Array.isArray(topics)) return undefined
  return { topics: topics.map((topic) => String(topic).toLowerCase()), data }
}
