// A chain of our own (anvil) with a token of our own, and payers who have some of it.
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { setTimeout as pause } from 'node:timers/promises'
import { createTestClient, defineChain, http, publicActions, walletActions } from 'viem'
import { mnemonicToAccount } from 'viem/accounts'
import { compileDollar } from '../../../examples/stablecoins/dollar.ts'

export const CHAIN_ID = 31_337
export const NETWORK = `eip155:${CHAIN_ID}`
const START_MS_MAX = 30_000
const POLL_MS = 20
/** The public words of every test chain. */
const WORDS = 'test test test test test test test test test test test junk'
export const USD = 1_000_000n

export type TestChain = Awaited<ReturnType<typeof startChain>>

/** The payers have $1,000 each; the first account sends for the facilitator, the last one is ours. */
export async function startChain(port: number, id = CHAIN_ID) {
  const url = `http://127.0.0.1:${port}`
  const architecture = process.arch === 'arm64' ? 'arm64' : 'amd64'
  const program = new URL(
    `../../../node_modules/@foundry-rs/anvil-linux-${architecture}/bin/anvil`,
    import.meta.url,
  )
  const process_ = spawn(
    program.pathname,
    ['--port', String(port), '--chain-id', String(id), '--slots-in-an-epoch', '4', '--silent'],
    { stdio: 'ignore' },
  )
  process_.unref()
  process.on('exit', () => process_.kill())
  const chain = defineChain({
    id,
    name: 'test',
    nativeCurrency: { name: 'E', symbol: 'E', decimals: 18 },
    rpcUrls: { default: { http: [url] } },
  })
  const account = (addressIndex: number) => mnemonicToAccount(WORDS, { addressIndex })
  const clientOf = (index: number) =>
    createTestClient({ account: account(index), chain, mode: 'anvil', transport: http(url) })
      .extend(publicActions)
      .extend(walletActions)
  const operator = clientOf(0)
  const signal = AbortSignal.timeout(START_MS_MAX)
  while (!(await operator.getChainId().then(Boolean, () => false)))
    await pause(POLL_MS, undefined, { signal })

  const { abi, bytecode } = compileDollar()
  const deploy = async () => {
    const hash = await operator.deployContract({ abi, bytecode })
    const { contractAddress } = await operator.waitForTransactionReceipt({ hash })
    assert.ok(contractAddress)
    return contractAddress
  }
  const token = await deploy()
  const receiver = account(9).address
  return {
    url,
    operator,
    token,
    receiver,
    account,
    clientOf,
    /** Another contract of the same source: tokens that we do not take. */
    deploy,
    async mint(to: `0x${string}`, units: bigint, of = token) {
      await operator.writeContract({ address: of, abi, functionName: 'mint', args: [to, units] })
    },
    /** The transaction of a call by a payer, in a block. */
    async send(payer: number, functionName: string, args: readonly unknown[], of = token) {
      const client = clientOf(payer)
      return await client.writeContract({ address: of, abi, functionName, args })
    },
    mine: (blocks: number) => operator.mine({ blocks }),
    /** The last blocks are replaced by empty ones. */
    reorganise: (depth: number) =>
      operator.request({ method: 'anvil_reorg', params: [depth, []] } as never),
    /** A signed transaction as it was sent, which a block may take once more after a reorganisation. */
    rawOf: (transaction: string) =>
      operator.request({ method: 'eth_getRawTransactionByHash', params: [transaction] } as never),
    sendRaw: (raw: unknown) =>
      operator.request({ method: 'eth_sendRawTransaction', params: [raw] } as never),
  }
}
