// The state of one payment on its chain. With several nodes configured two must say the same, and a node of another
// chain is not heard. A node that is behind cannot deny blocks that it has not seen.
import { ErgonError } from '#base/errors.ts'
import type { TokenChain } from './chains.ts'
import { hexOf, openNode, quantityOf, nodeFault, type RpcNode } from './node.ts'
import { AUTHORIZATION_USED, topicOf, transfersIn } from './transfers.ts'

/** Nodes that must agree, where there are as many. */
const AGREE = 2
/** A reorganisation may bring a transaction into an earlier block. */
const REORGANISED_BLOCKS = 64n

export type SoughtTransfer = {
  readonly sender: string
  /** The nonce of an authorisation; null for the tokens that the sender transferred in `transaction`. */
  readonly nonce: string | null
  readonly transaction: string | null
  readonly fromBlock: bigint
  /** Where it was last seen: nodes that do not have this block say nothing. */
  readonly seenInBlock: bigint
}

export type FoundTransfer = {
  readonly transaction: string
  readonly index: number
  readonly units: bigint
  readonly block: bigint
  readonly blockHash: string
}

/** `wrongNodes` are of another chain, by name. */
export type Sight = ChainState & { readonly wrongNodes: readonly string[] }
type ChainState =
  | {
      readonly kind: 'seen'
      readonly found: FoundTransfer
      readonly confirmations: number
      readonly isFinal: boolean
    }
  /** No block has the transaction, or its block has the transaction without the transfer. */
  | {
      readonly kind: 'absent'
      readonly isMined: boolean
      /** The time of the newest block that stays. */
      readonly finalAtS: bigint
    }
  | { readonly kind: 'unsure'; readonly reason: string }

/** A node as it is at one moment. */
type NodeView = {
  readonly node: RpcNode
  readonly head: bigint
  readonly final: { readonly block: bigint; readonly atS: bigint }
}
type NodeReading = { readonly found: FoundTransfer | undefined; readonly isMined: boolean }
type Vote = NodeView & NodeReading

/** The block from which a new payment is searched. Throws payment_processor_away, as nothing could be checked then. */
export async function searchFrom(chain: TokenChain, signal: AbortSignal): Promise<bigint> {
  const answers = await Promise.all(
    nodesOf(chain).map((node) => attempt(view(chain, node, signal))),
  )
  const heads = answers.flatMap((one) => (one instanceof ErgonError ? [] : [one.head]))
  if (heads.length < agreementOf(chain)) throw nodeFault(chain.network, 'too few nodes answer')
  return least(heads.map((head) => (head > REORGANISED_BLOCKS ? head - REORGANISED_BLOCKS : 0n)))
}

/** Never rejects for a fault of a node; rejects where the signal aborts. */
export async function inspectChain(
  chain: TokenChain,
  sought: SoughtTransfer,
  signal: AbortSignal,
): Promise<Sight> {
  const answers = await Promise.all(
    nodesOf(chain).map((node) => attempt(vote(chain, node, { sought, signal }))),
  )
  const wrongNodes = answers.flatMap((one) => (one instanceof WrongChain ? [one.node] : []))
  return { ...stateOf(chain, sought, answers), wrongNodes }
}

function stateOf(
  chain: TokenChain,
  { seenInBlock }: SoughtTransfer,
  answers: readonly (Vote | ErgonError)[],
): ChainState {
  const groups = Map.groupBy(
    answers
      .flatMap((one) => (one instanceof ErgonError ? [] : [one]))
      .filter(({ found, head }) => found !== undefined || head >= seenInBlock),
    ({ found, isMined }) => (found === undefined ? String(isMined) : nameOf(found)),
  )
  const [agreed, other] = [...groups.values()].filter(({ length }) => length >= agreementOf(chain))
  if (agreed !== undefined && other === undefined) return agreedState(agreed)
  const failed = answers.find((one) => one instanceof ErgonError)
  const reason = failed?.message ?? `Could not trust ${chain.network}: its nodes disagree`
  return { kind: 'unsure', reason }
}

function agreedState(agreed: readonly Vote[]): ChainState {
  const { found, isMined = false } = agreed[0] ?? {}
  if (found === undefined)
    return { kind: 'absent', isMined, finalAtS: least(agreed.map(({ final }) => final.atS)) }
  const head = least(agreed.map((one) => one.head))
  return {
    kind: 'seen',
    found,
    confirmations: Number(head - found.block + 1n),
    isFinal: least(agreed.map(({ final }) => final.block)) >= found.block,
  }
}

const least = (values: readonly bigint[]): bigint => values.reduce((a, b) => (a < b ? a : b))

class WrongChain extends ErgonError {
  readonly node: string
  constructor(node: string) {
    const { code, status, message } = nodeFault(node, 'it is of another chain')
    super({ code, status }, message)
    this.node = node
  }
}

const nodesOf = ({ nodes, network }: TokenChain): RpcNode[] =>
  nodes.map((address, place) => openNode(address, `${network} node ${place + 1}`))

const agreementOf = ({ nodes }: TokenChain): number => Math.min(AGREE, nodes.length)

const nameOf = ({ transaction, index, units, blockHash }: FoundTransfer): string =>
  [transaction, index, units, blockHash].join()

const attempt = <T>(work: Promise<T>): Promise<T | ErgonError> =>
  work.catch((error: unknown) => {
    if (error instanceof ErgonError) return error
    throw error
  })

async function view(chain: TokenChain, node: RpcNode, signal: AbortSignal): Promise<NodeView> {
  const block = (tag: string) => node.call('eth_getBlockByNumber', [tag, false], signal)
  const [id, latest, final] = await Promise.all([
    node.call('eth_chainId', [], signal),
    block('latest'),
    block('finalized'),
  ])
  if (quantityOf({ id }, 'id') !== chain.id) throw new WrongChain(node.name)
  return {
    node,
    head: quantityOf(latest, 'number'),
    final: { block: quantityOf(final, 'number'), atS: quantityOf(final, 'timestamp') },
  }
}

async function vote(
  chain: TokenChain,
  node: RpcNode,
  { sought, signal }: { readonly sought: SoughtTransfer; readonly signal: AbortSignal },
): Promise<Vote> {
  // First the head: a block that comes meanwhile confirms nothing yet.
  const seen = await view(chain, node, signal)
  const transaction =
    sought.nonce === null ? sought.transaction : await usedIn(chain, node, { sought, signal })
  if (transaction === null) return { ...seen, found: undefined, isMined: false }
  const receipt = await node.call('eth_getTransactionReceipt', [transaction], signal)
  if (receipt === null) return { ...seen, found: undefined, isMined: false }
  const found = await inChain(chain, node, { sought, receipt, signal })
  return { ...seen, found, isMined: true }
}

/** The transaction that used the authorisation. */
async function usedIn(
  { token }: TokenChain,
  node: RpcNode,
  { sought, signal }: { readonly sought: SoughtTransfer; readonly signal: AbortSignal },
): Promise<string | null> {
  const { fromBlock, seenInBlock, sender, nonce } = sought
  const near = seenInBlock - REORGANISED_BLOCKS
  const from = near > fromBlock ? near : fromBlock
  const topics = [AUTHORIZATION_USED, topicOf(sender), nonce]
  const filter = { address: token, fromBlock: `0x${from.toString(16)}`, toBlock: 'latest', topics }
  const logs = await node.call('eth_getLogs', [filter], signal)
  if (!Array.isArray(logs)) throw nodeFault(node.name, 'no list of logs')
  return logs.length === 0 ? null : hexOf(logs[0], 'transactionHash')
}

/** The transfer in a receipt, where the block of the receipt is in the chain. */
async function inChain(
  chain: TokenChain,
  node: RpcNode,
  asked: {
    readonly sought: SoughtTransfer
    readonly receipt: unknown
    readonly signal: AbortSignal
  },
): Promise<FoundTransfer | undefined> {
  const { sought, receipt, signal } = asked
  if (quantityOf(receipt, 'status') !== 1n) return undefined
  const { logs } = receipt as { readonly logs?: unknown }
  if (!Array.isArray(logs)) throw nodeFault(node.name, 'no logs in the receipt')
  const own = transfersIn(logs, chain).filter(
    ({ sender, nonce }) => sender === sought.sender && nonce === (sought.nonce ?? undefined),
  )
  const [first] = own
  if (first === undefined) return undefined
  const number = hexOf(receipt, 'blockNumber')
  const blockHash = hexOf(receipt, 'blockHash')
  const block = await node.call('eth_getBlockByNumber', [number, false], signal)
  if (block === null || hexOf(block, 'hash') !== blockHash) return undefined
  return {
    transaction: hexOf(receipt, 'transactionHash'),
    index: first.index,
    units: own.reduce((sum, { units }) => sum + units, 0n),
    block: BigInt(number),
    blockHash,
  }
}
