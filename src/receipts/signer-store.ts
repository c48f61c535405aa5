// The signers in the state (receipts/schema): the last observation of their shares by jobs, which gateways
// show, and the permission to make a key.
import { raiseAlarm } from '#state/alarms.ts'
import type { Queryable, State } from '#state/connect.ts'
import { lostShares, type ShareState, type SignerShare } from '#signers/shares.ts'
import { SIGNERS } from '#signers/wire.ts'

export type SignerStore = {
  /** Keeps the seen shares; one alarm, `signer_share_lost`, for each share that was not known to be lost. */
  save(shares: readonly SignerShare[]): Promise<void>
  /** The number of signers with a share that answer; undefined when the last observation is minutes old. */
  ready(): Promise<number | undefined>
  /** True when a key may be made where no signer has one: at the first start, or by the operator's order. */
  mayMakeKey(): Promise<boolean>
  /** The operator's order of a new key; it is done when its shard is opened. */
  orderNewKey(): Promise<void>
}

/** Observations are made every few seconds and saved every minute: an older one means that none is made. */
const SEEN_FOR = '3 minutes'
/** The number of ready signers, as a column of a query; null when the last observation is minutes old. */
export const SIGNERS_READY = `(
  select case when looked_at > now() - interval '${SEEN_FOR}' then
    (select count(*) from jsonb_each_text(states) where value = 'ready') end
  from receipt_signers)::int`
const MAY_MAKE_KEY = `
  select new_key_ordered_at is not null or not exists (select from receipt_shards) as may,
    states from receipt_signers`

export function createSignerStore(state: State): SignerStore {
  return {
    save: (shares) =>
      state.transaction(async (queries) => {
        const { may, states } = await readSigners(queries, `${MAY_MAKE_KEY} for update`)
        const before = Array.from({ length: SIGNERS }, (_, nth): SignerShare => ({
          index: nth + 1,
          share: states[nth + 1] ?? 'silent',
        }))
        const known = new Set(lostShares(before, !may).map(({ index }) => index))
        const lost = lostShares(shares, !may).filter(({ index }) => !known.has(index))
        for (const { index, share } of lost)
          await raiseAlarm(queries, 'signer_share_lost', { signer: index, share })
        // One that is started again has not got back what it had lost before.
        const kept = shares.map(({ index, share }) => [
          index,
          share === 'silent' && known.has(index) ? states[index] : share,
        ])
        await queries.query('update receipt_signers set states = $1, looked_at = now()', [
          JSON.stringify(Object.fromEntries(kept)),
        ])
      }),
    async ready() {
      const { rows } = await state.query<{ ready: number | null }>(
        `select ${SIGNERS_READY} as ready`,
      )
      return rows[0]?.ready ?? undefined
    },
    mayMakeKey: async () => (await readSigners(state, MAY_MAKE_KEY)).may,
    orderNewKey: async () =>
      void (await state.query('update receipt_signers set new_key_ordered_at = now()')),
  }
}

type States = Readonly<Record<string, ShareState>>

async function readSigners(queries: Queryable, text: string) {
  const { rows } = await queries.query<{ may: boolean; states: States }>(text)
  return rows[0] ?? { may: false, states: {} }
}
