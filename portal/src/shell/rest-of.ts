// The watts of services without a circuit of their own on the board.
import type { Power } from '#console/live/state.ts'
import { PAGES } from '#console/pages/list.ts'

const SHOWN: ReadonlySet<string> = new Set(PAGES.flatMap(({ service }) => service ?? []))

/** Nanojoules a second: the services that no page shows. */
export const restOf = ({ by }: Power): bigint =>
  Object.entries(by).reduce((sum, [service, nj]) => (SHOWN.has(service) ? sum : sum + nj), 0n)
