// The reserves of accounts: parts of their balances that new work cannot have.
import type { Queryable } from '#state/connect.ts'
import type { ReserveKind } from './tick.ts'

/** Wallets of a transaction, at most: it holds the head of the log, which every tick waits for. */
const BATCH = 100

/** The part of balances that a source wants to be kept. */
export type WantedReserve = {
  readonly kind: ReserveKind
  readonly source: string
  /** The wanted energy by account; other accounts want nothing. */
  readonly energies: ReadonlyMap<string, bigint>
}

/**
 * Keeps the wanted reserves of a source in the balances of accounts, some accounts at a time. The next call makes up
 * for a failure.
 */
export async function fitReserves(
  state: Queryable,
  { kind, source, energies }: WantedReserve,
): Promise<void> {
  const { rows } = await state.query<{ wallets: string[] }>(
    'select want_reserves($1, $2, $3, $4) as wallets',
    [kind, source, [...energies.keys()], [...energies.values()].map(String)],
  )
  const wallets = rows[0]?.wallets ?? []
  for (let done = 0; done < wallets.length; done += BATCH)
    await state.query('select fit_reserves($1, $2)', [kind, wallets.slice(done, done + BATCH)])
}
