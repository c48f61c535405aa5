// POST /v1/payment-methods: adds a card. Its number never comes here: the payer gives it to the processor.
import { newId } from '#base/ids.ts'
import { present } from '#base/errors.ts'
import { fault } from '#contract/errors.ts'
import type { MethodReply, MethodRequest } from '#contract/payments/payments.ts'
import { once } from '#http/once.ts'
import type { Handler } from '#http/reply.ts'
import { recordAct, type ActingCall } from '#identity/audit.ts'
import type { PaymentAdapter } from '#payments/adapter.ts'
import { declined } from '#payments/decline.ts'
import { demandCardPace, demandCardRoom, METHODS_MAX } from '#payments/pace.ts'
import { removeMethod, type RemovedRow } from '#payments/removed-methods.ts'
import { adapterOf } from '#payments/settings.ts'
import type { Queryable, State } from '#state/connect.ts'
import { callerOf } from '#identity/principal.ts'
import { METHODS_OF, methodReplyOf, type MethodRow } from '#payments/find-method.ts'

type Deps = { readonly state: State; readonly adapters: readonly PaymentAdapter[] }

export function createMethodCreate(deps: Deps): Handler<MethodRequest> {
  const { state, adapters } = deps
  return async (call) => {
    const { caller, body } = call
    const { account, env } = callerOf({ caller })
    const adapter = adapterOf(adapters, env)
    if (adapter === undefined) throw fault('payments_off', 'Could not add the card')
    const { id } = await once(call, state, async () => {
      await makeRoom(deps, call)
      return async (transaction) => {
        const made = newId('card')
        await demandCardRoom(transaction, account)
        await insertMethod(transaction, { id: made, account, processor: adapter.name })
        await recordAct(transaction, call, { action: 'payment-method.create', target: made })
        return { id: made }
      }
    })
    const action = await setUp(deps, adapter, { id, account, reference: body.token }).catch(
      async (error: unknown) => {
        // Without a key nobody can ask again. A card that was made all the same is forgotten once the processor tells.
        if (call.begun === undefined) await state.query(UNANSWERED, [id])
        throw error
      },
    )
    const { rows } = await state.query<MethodRow>(`${METHODS_OF} and id = $2`, [account, id])
    const reply = methodReplyOf(present(rows[0], 'the card is there'), action)
    return { kind: 'known', status: 201, body: () => reply }
  }
}

const UNANSWERED = `update payment_methods set state = 'removed', removed_at = ledger_now()
  where id = $1 and state = 'pending' and setup is null`

/** A card that was never given holds up no other one: the oldest is removed, and its page is closed. */
async function makeRoom({ state, adapters }: Deps, call: ActingCall): Promise<void> {
  const { account } = present(call.caller, 'a card is added with a token')
  const { rows } = await state.query<RemovedRow>(
    `select id, processor, reference, page from payment_methods where account = $1 and state = 'pending'
       and (select count(*) from payment_methods where account = $1 and state in ('pending', 'active')) >= $2
     order by created_at, id limit 1`,
    [account, METHODS_MAX],
  )
  const [row] = rows
  if (row === undefined) return
  await state.transaction((transaction) => demandCardPace(transaction, account))
  await removeMethod({ state, adapters }, call, row)
}

/** The processor knows a set-up by the id of the card, so a repetition is answered as the first. Throws payment_declined. */
async function setUp(
  { state }: Deps,
  adapter: PaymentAdapter,
  { id, account, reference }: { id: string; account: string; reference: string | undefined },
): Promise<MethodReply['action']> {
  const customer = await customerOf(state, adapter, account)
  const made = await adapter.setUp({ method: id, account, customer, reference })
  await state.query(
    `update payment_methods set setup = $2, page = $4, state = case when $3 and state = 'pending' then 'failed' else state end
     where id = $1`,
    [
      id,
      made.reference === '' ? null : made.reference,
      made.failure !== undefined,
      made.page ?? null,
    ],
  )
  if (made.failure !== undefined) throw declined('add the card', made.failure)
  return made.action ?? null
}

async function insertMethod(
  state: Queryable,
  method: { readonly id: string; readonly account: string; readonly processor: string },
): Promise<void> {
  await state.query(
    `insert into payment_methods (id, account, processor, state, created_at)
     values ($1, $2, $3, 'pending', ledger_now())`,
    [method.id, method.account, method.processor],
  )
}

/** The account at the processor, made with the first card. */
async function customerOf(
  state: Queryable,
  adapter: PaymentAdapter,
  account: string,
): Promise<string> {
  const known = await state.query<{ customer: string | null }>(
    'select customer from payment_accounts where account = $1',
    [account],
  )
  const customer = known.rows[0]?.customer
  if (typeof customer === 'string') return customer
  const made = await adapter.customer(account)
  await state.query(
    `insert into payment_accounts (account, customer) values ($1, $2)
     on conflict (account) do update set customer = coalesce(payment_accounts.customer, excluded.customer)`,
    [account, made],
  )
  return made
}
