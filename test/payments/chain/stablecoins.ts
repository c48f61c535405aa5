// A product that takes the token of a test chain, and its payers.
import { wrapFetchWithPayment, x402Client } from '@x402/fetch'
import { ExactEvmScheme } from '@x402/evm/exact/client'
import { topupReply, type TopupReply } from '#contract/payments/payments.ts'
import { freeBlock } from '../../ports.ts'
import type { Settings } from '../../settings.ts'
import type { Ergon } from '../../start-ergon.ts'
import { newPayer, type Answer, type Payer } from '../client.ts'
import { runTask } from '../processor.ts'
import { startChain, NETWORK, type TestChain } from './chain.ts'
import { FACILITATOR_KEY, startFacilitator, type TestFacilitator } from './facilitator.ts'

export const CONFIRMATIONS = 3

export type Coins = { readonly chain: TestChain; readonly facilitator: TestFacilitator }
let coins: Coins | undefined

/** The chain and the facilitator of `STABLECOINS`. */
export const testCoins = (): Coins => {
  if (coins === undefined) throw new TypeError('no chain yet: ask for STABLECOINS')
  return coins
}

export const STABLECOINS: Settings = async () => {
  const port = await freeBlock()
  const chain = await startChain(port)
  const facilitator = await startFacilitator(chain, port + 1)
  coins = { chain, facilitator }
  const setting = {
    ...tokenOf(chain),
    nodes: [chain.url],
    facilitator: facilitator.url,
    facilitator_key: FACILITATOR_KEY,
  }
  return { env: { ERGON_STABLECOINS: JSON.stringify([setting]) } }
}

export const tokenOf = ({ token, receiver }: Pick<TestChain, 'token' | 'receiver'>) => ({
  network: NETWORK,
  token,
  decimals: 6,
  name: 'Test Dollar',
  version: '2',
  receiver,
  confirmations: CONFIRMATIONS,
})

/** Pays by x402 as its client does: the offer, a signature, the same request again. */
export async function payByX402(
  ergon: Ergon,
  payer: Payer,
  {
    body,
    from,
    fetch: send = fetch,
  }: { readonly body: object; readonly from: number; readonly fetch?: typeof fetch },
): Promise<{
  readonly status: number
  readonly headers: Headers
  readonly json: Record<string, unknown>
}> {
  const client = new x402Client().register(
    'eip155:*',
    new ExactEvmScheme(testCoins().chain.account(from)),
  )
  // The spend controls of the client know tokens of public chains only.
  client.setSpendControls(false)
  const answer = await wrapFetchWithPayment(send, client)(`${ergon.baseUrl}/v1/topups`, {
    method: 'POST',
    headers: { authorization: `Bearer ${payer.token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ method: 'stablecoin', ...body }),
  })
  return {
    status: answer.status,
    headers: answer.headers,
    json: (await answer.json()) as Record<string, unknown>,
  }
}

/** A payer with a wallet of their own, by its number: nobody else spends from it. */
export async function newWallet(
  ergon: Ergon,
): Promise<{ readonly payer: Payer; readonly from: number }> {
  const { chain } = testCoins()
  const from = nextWallet++
  await chain.operator.setBalance({ address: chain.account(from).address, value: 10n ** 18n })
  await chain.mint(chain.account(from).address, 1_000_000_000n)
  return { payer: await newPayer(ergon), from }
}
let nextWallet = 20

/** Sends a transfer and the claim of it, signed by the wallet. */
export async function claim(
  payer: Payer,
  asked: {
    readonly transaction: string
    readonly from: number
    readonly account?: string
    readonly network?: string
  },
) {
  const { transaction, from, account = payer.account, network = NETWORK } = asked
  const message = `Ergon: transaction ${transaction} on ${network} tops up account ${account}`
  const signature = await testCoins().chain.account(from).signMessage({ message })
  return await payer.call('POST', '/v1/topups', {
    method: 'stablecoin',
    transfer: { network, transaction, signature },
  })
}

export const topupOf = async (payer: Payer, id: unknown): Promise<TopupReply> =>
  topupReply.parse((await payer.call('GET', `/v1/topups/${String(id)}`)).json)

/** Has the watch look at the chain now. */
export const look = (ergon: Ergon): Promise<void> => runTask(ergon, 'payments.stablecoins')

/** As a minute later: what is balance is looked at less often. */
export async function lookAgain(ergon: Ergon): Promise<void> {
  await ergon.sql("update stablecoin_payments set looked_at = '-infinity'")
  await look(ergon)
}

/** The code of a refusal, and its reason in more detail. */
export const codeOf = ({ json }: Pick<Answer, 'json'>): unknown => json['title']
export const reasonOf = ({ json }: Pick<Answer, 'json'>): unknown => json['reason']
