// GET /v1/payment-methods: the cards of an account.
import type { Handler } from '#http/reply.ts'
import type { PaymentAdapter } from '#payments/adapter.ts'
import { adapterOf } from '#payments/settings.ts'
import type { TokenChain } from '#payments/stablecoin/chains.ts'
import type { State } from '#state/connect.ts'
import { callerOf } from '#identity/principal.ts'
import { METHODS_OF, methodReplyOf, type MethodRow } from '#payments/find-method.ts'

type Deps = { readonly state: State; readonly adapters: readonly PaymentAdapter[] }

export const createMethodList =
  ({
    state,
    adapters,
    chains,
  }: Deps & { readonly chains: readonly Pick<TokenChain, 'env'>[] }): Handler =>
  async ({ caller }) => {
    const { account, env } = callerOf({ caller })
    const { rows } = await state.query<MethodRow>(
      `${METHODS_OF} and state in ('pending', 'active') order by id desc`,
      [account],
    )
    const data = rows.map((row) => methodReplyOf(row, null))
    const takes_cards = adapterOf(adapters, env) !== undefined
    const takes_stablecoins = chains.some((chain) => chain.env === env)
    const reply = {
      object: 'list',
      data,
      takes_cards,
      takes_stablecoins,
      has_more: false,
      next_cursor: null,
    }
    return { kind: 'known', status: 200, body: () => reply }
  }
