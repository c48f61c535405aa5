// The accounting of a program that serves no requests: it knows no credentials, has a ledger connection of its own and
// small journal segments, and ends when its journal or its session is lost.
import type { Logger } from '#base/log.ts'
import type { Nj } from '#base/units.ts'
import type { ReserveKind } from '#ledger/tick.ts'
import type { Marks } from '#metering/marks.ts'
import { connectState, type StateAddress } from '#state/connect.ts'
import { openAccounting, SMALL_SEGMENT_BYTES, type Accounting } from './accounting.ts'

/** The part of a program's config that its accounting needs. */
export type AccountingConfig = {
  readonly state: StateAddress
  /** The meter whose tariff gives carbon and price of a charge. */
  readonly meter: string
  readonly journalFolder: string
  readonly journalSync: boolean
}

const CONNECTIONS = 2
const EXIT_LOST = 74

/** `leaseLeastNj`, `aheadNj` and `draws` as in openAccounting(). Closing also closes the connection to the ledger. */
export async function openBackgroundAccounting(
  { state: address, meter, journalFolder, journalSync }: AccountingConfig,
  own: {
    readonly process: string
    readonly log: Logger
    readonly marks?: Marks
    readonly leaseLeastNj: Nj
    readonly aheadNj?: Nj
    readonly draws?: ReserveKind
  },
): Promise<Accounting> {
  const { log } = own
  const state = connectState({ address, connections: CONNECTIONS, log, prepares: true })
  const accounting = await openAccounting({
    ...own,
    meter,
    journalFolder,
    journalSync,
    segmentBytes: SMALL_SEGMENT_BYTES,
    state,
    forget: () => undefined,
    failed(error) {
      log.error('The journal or the session is lost; the process ends', { error })
      process.exit(EXIT_LOST)
    },
  })
  return {
    ...accounting,
    async close(limitMs) {
      await accounting.close(limitMs)
      await state[Symbol.asyncDispose]()
    },
  }
}
