// The messages of a tick, up and down. The SQL function of tick.sql and the oracle in reference/tick.ts both take and return
// them.
import type { AlarmKind } from '#contract/node/alarms.ts'
import { hasSqlState } from '#state/sql-states.ts'

export type TickRecord = {
  readonly seq: bigint
  readonly kind: 'charge' | 'window'
  readonly bytes: Uint8Array
}
/** A charge's debit of a wallet, in the wallet's unit. */
export type Debit = { readonly wallet: string; readonly amount: bigint }
export type TickDebit = Debit & { readonly seq: bigint }
/** The energy that a session wants to have leased of a wallet in total. */
export type Want = { readonly wallet: string; readonly amount: bigint }

export type TickInput = {
  readonly session: string
  /** Greater at each try: a tick that was overtaken on its way is refused. */
  readonly number: bigint
  /** The last credential change that the session has seen. */
  readonly epoch: bigint
  /** The meter whose tariff the session bills at. */
  readonly meter: string
  /** In the order of their numbers. */
  readonly records: readonly TickRecord[]
  readonly debits: readonly TickDebit[]
  readonly wants: readonly Want[]
}

export type LeaseGrant = {
  readonly want: string
  readonly wallet: string
  readonly amount: bigint
  /** The wallet could not give the wanted amount. */
  readonly dry: boolean
  /** Other sessions have leases of the wallet. */
  readonly elsewhere: boolean
}
/** A change to forget: of one token, or of everything of an account. */
export type CredentialChange = { readonly token: string | null; readonly account: string }

export type TickResult = {
  readonly grants: readonly LeaseGrant[]
  /** Wallets of which another session wants what this one has reserved and does not use. */
  readonly recalls: readonly string[]
  readonly lastSeq: bigint
  readonly epoch: bigint
  readonly changes: readonly CredentialChange[]
  readonly price: { readonly id: string; readonly pusdPerJ: bigint }
  /** The tariff's body as the agent published it; absent before its first window. */
  readonly tariff: unknown
  /** The books did not add up at the last reconcile: nothing paid may be admitted. */
  readonly halted: boolean
}

/** One life of a process, as the ledger knows it. */
export type KnownSession = {
  readonly session: string
  readonly open: boolean
  readonly lastSeq: bigint
  readonly lastTick: bigint
  /** The newest credential change, of any account: what a life that is over need not be told. */
  readonly newestChange: bigint
}

/** Parts of a balance that are kept: for cells that run, and for stored bytes. */
export type ReserveKind = 'grace' | 'retention'

export interface Ledger {
  /**
   * The next life of a process, numbered `lifeMin` at least: a state that was set back knows fewer. `draws` is the kind of
   * the reserves that it may draw on.
   */
  openSession(
    process: string,
    options?: { readonly lifeMin?: number; readonly draws?: ReserveKind | undefined },
  ): Promise<{ session: string; epoch: bigint }>
  findSession(session: string): Promise<KnownSession | undefined>
  /** The session of a process that is still open, when there is one: its journal comes first. */
  openSessionOf(process: string): Promise<KnownSession | undefined>
  closeSession(session: string): Promise<void>
  tick(input: TickInput): Promise<TickResult>
  /** Those of these receipt ids whose charges the ledger has. */
  posted(ids: readonly string[]): Promise<ReadonlySet<string>>
  /**
   * Posts records as lost: those from `first`, which comes after the last posted one, to `last`. Leaves an
   * alarm. Throws `sessionOver` and `overtaken` of SQL_STATES, as a tick does.
   */
  lose(session: string, first: bigint, last: bigint): Promise<void>
  /** Raises an alarm about a loss, for the operator. */
  alarm(kind: AlarmKind, detail: Readonly<Record<string, string>>): Promise<void>
}

/** A tick left out a record, as far as the ledger knows. */
export const isLeftOut = (error: unknown): boolean => hasSqlState(error, 'recordLeftOut')

/** The session is over, or its journal contradicts the ledger. Not retried. */
export const isSessionLost = (error: unknown): boolean =>
  hasSqlState(error, 'sessionOver', 'recordChanged', 'recordLeftOut')

/** The session has ticked with the number of the tick, or a greater one. */
export const isOvertaken = (error: unknown): boolean => hasSqlState(error, 'overtaken')
