// The grace: what the cells of each account use in a minute is kept of its balance, so that they can go on for a minute
// after the rest is used up.
import { add, nj, type Nj } from '#base/units.ts'
import type { MeterWindow } from '#metering/window.ts'
import { fitReserves } from '#ledger/reserves.ts'
import type { State } from '#state/connect.ts'

/** Windows of a second: the power is that of the last ten. */
const WINDOWS = 10
const GRACE_WINDOWS = 60n
const NONE = nj(0n)

export interface Grace {
  /** A window has closed. Every tenth sets what is kept; rejects where the state does not answer. */
  add(window: MeterWindow): Promise<void>
}

export function createGrace({ state }: { readonly state: Pick<State, 'query'> }): Grace {
  let usedNj = new Map<string, Nj>()
  let windows = 0
  return {
    async add({ shares }) {
      for (const { payer, dynamicNj, idleNj } of shares)
        if (payer.kind === 'account')
          usedNj.set(payer.account, add(usedNj.get(payer.account) ?? NONE, add(dynamicNj, idleNj)))
      if (++windows < WINDOWS) return
      const energies = new Map(
        [...usedNj].map(([account, used]) => [account, (used * GRACE_WINDOWS) / BigInt(windows)]),
      )
      usedNj = new Map()
      windows = 0
      await fitReserves(state, { kind: 'grace', source: 'cell', energies })
    },
  }
}
