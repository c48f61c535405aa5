// Nodes that hang, lie, are behind or of another chain: a payment waits, and never moves by them.
import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import { openChains, type TokenChain } from '#payments/stablecoin/chains.ts'
import {
  inspectChain,
  type Sight,
  type SoughtTransfer,
} from '#payments/stablecoin/inspect-chain.ts'
import { product, sharedErgon } from '../product.ts'
import { badNode, behind, NODE_KEY, type Spoil } from './chain/bad-node.ts'
import { NETWORK, USD } from './chain/chain.ts'
import { CONFIRMATIONS, newWallet, STABLECOINS, testCoins, tokenOf } from './chain/stablecoins.ts'

product(STABLECOINS)

let good = ''
let sought: SoughtTransfer
let block = 0n
before(async () => {
  const { chain } = testCoins()
  const { from } = await newWallet(sharedErgon())
  const transaction = await chain.send(from, 'transfer', [chain.receiver, 5n * USD])
  ;({ blockNumber: block } = await chain.operator.waitForTransactionReceipt({ hash: transaction }))
  const sender = chain.account(from).address.toLowerCase()
  sought = { sender, transaction, nonce: null, fromBlock: 0n, seenInBlock: block }
  await chain.mine(1)
  good = await badNode(chain.url, {})
})

const { signal } = new AbortController()
const chainOf = (nodes: readonly string[]): TokenChain => {
  const { receiver, token } = testCoins().chain
  const facts = {
    ...tokenOf({ receiver: receiver.toLowerCase() as never, token }),
    env: 'test',
  } as const
  return openChains([{ ...facts, nodes, facilitator: undefined }])[0]!
}
const seenBy = (nodes: readonly string[]): Promise<Sight> =>
  inspectChain(chainOf(nodes), sought, signal)
const spoilt = (spoil: Spoil) => badNode(testCoins().chain.url, { spoil })

test('a good node, or two that agree, prove a transfer with its confirmations', async () => {
  for (const nodes of [[good], [good, good], [good, good, good]]) {
    const sight = await seenBy(nodes)
    assert.ok(sight.kind === 'seen', sight.kind)
    assert.deepEqual([sight.found.units, sight.confirmations], [5n * USD, 2])
  }
})

test('a node that gives no answer of its kind proves and denies nothing, and its address stays secret', async () => {
  const { url } = testCoins().chain
  const bad = await Promise.all([
    badNode(url, { status: 429 }),
    badNode(url, { status: 500 }),
    badNode(url, { status: 302 }),
    badNode(url, { bytes: '<html>' }),
    badNode(url, { bytes: '' }),
    badNode(url, { bytes: 'null' }),
    badNode(url, { bytes: '{"jsonrpc":"2.0","id":1,"error":{"code":-32005,"message":"limit"}}' }),
    badNode(url, { bytes: `"${'x'.repeat(2_000_000)}"` }),
    spoilt(() => 'no number'),
    spoilt((result, { method }) => (method === 'eth_getTransactionReceipt' ? {} : result)),
    `http://127.0.0.1:1/${NODE_KEY}`,
  ])
  // One after another: a node that is slow because of its neighbours would be away.
  for (const node of bad) {
    const alone = await seenBy([node])
    const [beside, among] = [await seenBy([good, node]), await seenBy([good, node, good])]
    assert.deepEqual([alone.kind, beside.kind, among.kind], ['unsure', 'unsure', 'seen'])
    assert.ok(!JSON.stringify(alone).includes(NODE_KEY), JSON.stringify(alone))
  }
})

test('a node that hangs is away after its time', async () => {
  const hangs = await spoilt((result, { method }) =>
    method === 'eth_chainId' ? undefined : result,
  )
  assert.equal((await seenBy([good, hangs, good])).kind, 'seen')
})

test('a node of another chain is named, and not heard', async () => {
  const other = await spoilt((result, { method }) => (method === 'eth_chainId' ? '0x1' : result))
  const alone = await seenBy([other])
  assert.deepEqual([alone.kind, alone.wrongNodes], ['unsure', [`${NETWORK} node 1`]])
  const among = await seenBy([good, other, good])
  assert.deepEqual([among.kind, among.wrongNodes], ['seen', [`${NETWORK} node 2`]])
})

test('a node that is behind cannot deny a transfer that was seen, and delays one that is new', async () => {
  const late = await spoilt(behind(block - 1n))
  assert.equal((await seenBy([late])).kind, 'unsure')
  assert.equal((await seenBy([good, late])).kind, 'unsure')
  assert.equal((await seenBy([good, late, good])).kind, 'seen')
  sought = { ...sought, seenInBlock: 0n }
  assert.equal((await seenBy([late])).kind, 'absent')
  sought = { ...sought, seenInBlock: block }
  // One that has the block of the transfer, and no newer one, counts fewer confirmations.
  const slow = await spoilt(behind(block))
  const sight = await seenBy([good, slow])
  assert.deepEqual([sight.kind, sight.kind === 'seen' && sight.confirmations], ['seen', 1])
  assert.ok(1 < CONFIRMATIONS)
})

test('a lie of one node is outvoted by two, and believed beside none', async () => {
  type Receipt = { logs: { data: string; address: string; topics: string[] }[] } & Record<
    string,
    unknown
  >
  const ofReceipt = (lie: (receipt: Receipt) => void) =>
    spoilt((result, { method }) => {
      if (method === 'eth_getTransactionReceipt') lie(result as Receipt)
      return result
    })
  const liars = await Promise.all([
    ofReceipt(({ logs }) => (logs[0]!.data = `0x${(500n * USD).toString(16).padStart(64, '0')}`)),
    ofReceipt(({ logs }) => (logs[0]!.address = `0x${'1'.repeat(40)}`)),
    ofReceipt((receipt) => (receipt['status'] = '0x0')),
    ofReceipt((receipt) => (receipt['blockHash'] = `0x${'2'.repeat(64)}`)),
    spoilt((result, { method }) => (method === 'eth_getTransactionReceipt' ? null : result)),
  ])
  for (const liar of liars) {
    assert.equal((await seenBy([good, liar])).kind, 'unsure')
    const sight = await seenBy([liar, good, good])
    assert.ok(sight.kind === 'seen' && sight.found.units === 5n * USD)
    // Two against two.
    assert.equal((await seenBy([liar, good, liar, good])).kind, 'unsure')
  }
})

test('a receipt whose block is not in the chain is no transfer', async () => {
  const stale = await spoilt((result, { method }) =>
    method === 'eth_getTransactionReceipt'
      ? { ...(result as object), blockHash: `0x${'3'.repeat(64)}` }
      : result,
  )
  assert.equal((await seenBy([stale])).kind, 'absent')
})
