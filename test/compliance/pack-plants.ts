// Planted faults of evidence packs that a history must notice: each changes an answer of the state, or a statement.
import type { State } from '#state/connect.ts'

/** Each has a seed that turns it red. */
export const PACK_PLANTS = {
  'a page is skipped after a kill': 1,
  'the file of a killed build stays': 3,
  'a charge of another account is taken': 1,
  'late charges are not waited for': 10,
  'packs of deleted accounts stay': 7,
  'a pack is made again after a kill': 7,
  'each attempt has the whole ceiling': 15,
} as const
export type PackPlant = keyof typeof PACK_PLANTS

const PAGE = 'select account_seq::text as seq'
const BEGIN = "update evidence_packs set status = 'waiting'"
const AGAIN = `${BEGIN}, blob = null where status in ('running', 'ready')`
const CHARGED = 'charged_of_resource'
const POSTED = 'select ledger_now() < $1::timestamptz'

/** The state as the process of packs sees it; `kills` happened before its life. */
export function lieOf(plant: PackPlant | undefined, state: State, kills: number): State {
  const first = new Map<string, bigint>()
  switch (plant) {
    case 'a page is skipped after a kill':
      return asking(state, (text, [account, from, last, limit]) => {
        if (limit === 1) return undefined
        const key = `${String(account)} ${String(last)}`
        const number = BigInt(String(from))
        const begun = first.get(key)
        if (begun === undefined) first.set(key, number)
        const isSkipped = kills > 0 && begun !== undefined && number > begun
        return isSkipped
          ? [account, String(number + BigInt(Number(limit))), last, limit]
          : undefined
      })
    case 'a charge of another account is taken':
      return asking(state, (_, [account, ...rest]) =>
        rest[2] === 1 ? undefined : [String(account).replace(/[ab]$/, 'c'), ...rest],
      )
    case 'late charges are not waited for':
      return {
        ...state,
        query: async (text, values) => {
          const found = await state.query<never>(text, values)
          return text.startsWith(POSTED)
            ? { ...found, rows: [{ early: false, behind: null } as never] }
            : found
        },
      }
    case 'a pack is made again after a kill':
      return {
        ...state,
        query: (text, values) => {
          const isBegin = text.startsWith(BEGIN) && !text.includes('attempts')
          return state.query(isBegin ? AGAIN : text, values)
        },
      }
    case 'each attempt has the whole ceiling':
      return {
        ...state,
        query: async (text, values) => {
          const found = await state.query<never>(text, values)
          return text.includes(CHARGED) ? { ...found, rows: [{ charged: '0' } as never] } : found
        },
      }
    default:
      return state
  }
}

/** The state with other values for the pages of charges. */
const asking = (
  state: State,
  valuesOf: (text: string, values: readonly unknown[]) => readonly unknown[] | undefined,
): State => ({
  ...state,
  query: (text, values = []) =>
    state.query(text, text.startsWith(PAGE) ? (valuesOf(text, values) ?? values) : values),
})
