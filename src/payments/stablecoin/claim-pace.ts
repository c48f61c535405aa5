// The pace of claims that are refused: each asks the nodes, and costs their operator's quota and no money of the caller.
import { ErgonError } from '#base/errors.ts'
import { fault } from '#contract/errors.ts'
import { demandPace, demandPaymentPace } from '#payments/pace.ts'
import type { State } from '#state/connect.ts'

/** Transactions of an account whose claims may be refused in a day; claims that run at once count once they are refused. */
export const REFUSED_CLAIMS_PER_DAY_MAX = 20
/** Between two claims of the same transaction. */
const REPEAT_S = 1

type TransferOfAccount = {
  readonly account: string
  readonly network: string
  readonly transaction: string
}

/** Does the work of a claim, and counts it where it is refused. Throws payment_pace_exceeded. */
export async function atClaimPace<T>(
  state: State,
  claim: TransferOfAccount,
  work: () => Promise<T>,
): Promise<T> {
  await demandClaimPace(state, claim)
  try {
    return await work()
  } catch (error) {
    const isRefused =
      error instanceof ErgonError && ['transfer_refused', 'transfer_pending'].includes(error.code)
    if (isRefused) await countRefusal(state, claim)
    throw error
  }
}

const demandClaimPace = (
  state: State,
  { account, network, transaction }: TransferOfAccount,
): Promise<void> =>
  state.transaction(async (queryable) => {
    await demandPaymentPace(queryable, account)
    const { rows } = await queryable.query<{ soon: boolean }>(
      `select at > ledger_now() - make_interval(secs => ${REPEAT_S}) as soon from refused_claims
       where account = $1 and network = $2 and transaction = $3`,
      [account, network, transaction],
    )
    const [before] = rows
    if (before?.soon === true)
      throw fault('payment_pace_exceeded', 'Could not claim the transfer: repeat after a second', {
        retryAfterS: REPEAT_S,
      })
    // A transfer is claimed again until a block has it.
    if (before !== undefined) return
    await demandPace(queryable, {
      account,
      times: 'select at from refused_claims where account = $1',
      most: REFUSED_CLAIMS_PER_DAY_MAX,
      refusal: `Could not claim the transfer: ${REFUSED_CLAIMS_PER_DAY_MAX} claims were refused in a day`,
    })
  })

const countRefusal = async (
  state: State,
  { account, network, transaction }: TransferOfAccount,
): Promise<void> =>
  void (await state.query(
    `insert into refused_claims (account, network, transaction, at) values ($1, $2, $3, ledger_now())
     on conflict (account, network, transaction) do update set at = excluded.at`,
    [account, network, transaction],
  ))
