// The server of a database while a backup or a restore needs it, and its log up to a position.
import { dirname } from 'node:path'
import { sleep } from '#base/clock.ts'
import { keepAwake, NotAwake } from '#databases/agent-socket/awake.ts'
import { superuserAddress } from '#databases/server/superuser.ts'
import { connectState, type StateAddress } from '#state/connect.ts'
import type { WorkDeps } from './job.ts'
import { PassingFault } from './plan.ts'

export type WokenServer = AsyncDisposable & {
  readonly address: StateAddress
  /** Aborts with NotAwake when the server must not be used any more. */
  readonly signal: AbortSignal
}

/**
 * The longest time without a further piece of the log, or a sign that the store waits for its turn: on a busy machine a
 * long log takes many minutes.
 */
const SILENT_MS = 60_000
const LOOK_MS = 50

/** The server runs until the disposal. Rejects with NotAwake, or with the reason of `ending`. */
export async function wakeServer(
  { agent, superuserPassword }: WorkDeps,
  database: string,
  ending: AbortSignal,
): Promise<WokenServer> {
  const awake = await keepAwake(agent, `backups/${database}`, ending)
  const gone = new AbortController()
  void awake.ended.then((fatal) => gone.abort(new NotAwake(fatal)))
  return {
    address: superuserAddress(dirname(awake.socketPath), superuserPassword),
    signal: AbortSignal.any([ending, gone.signal]),
    async [Symbol.asyncDispose]() {
      awake.release()
    },
  }
}

/**
 * Stores the log up to now; returns the end of a record of its own there. The log on the disk of the server may end
 * amid a record of a transaction that goes on, which no recovery reaches.
 */
export async function storeLog(
  deps: WorkDeps,
  { database, address }: { readonly database: string; readonly address: StateAddress },
  signal: AbortSignal,
): Promise<string> {
  await using server = connectState({ address, connections: 1, log: deps.log })
  const { rows } = await server.query<{ position: string }>(
    "select pg_logical_emit_message(true, 'ergon', '')::text as position",
  )
  const position = rows[0]?.position ?? ''
  await reachLog(deps, database, { position, signal })
  return position
}

/**
 * Waits until the log is stored up to a position, for as long as further pieces of the log are stored, or wait for their
 * turn behind other logs.
 */
export async function reachLog(
  { state, clock }: WorkDeps,
  database: string,
  { position, signal }: { readonly position: string; readonly signal: AbortSignal },
): Promise<void> {
  let lastSign: string | undefined
  let lastMs = clock.monotonicMs() + SILENT_MS
  for (;;) {
    const { rows } = await state.query<{ sign: string; isReached: boolean }>(
      `select concat(w.end_lsn, ' ', d.log_waited_at) as sign, coalesce(w.end_lsn >= $2, false) as "isReached"
       from databases d left join lateral (select end_lsn from database_wal where database = d.id
         order by begin_lsn desc limit 1) w on true where d.id = $1`,
      [database, position],
    )
    const [last] = rows
    if (last?.isReached === true) return
    if (last?.sign !== lastSign) {
      lastSign = last?.sign
      lastMs = clock.monotonicMs() + SILENT_MS
    }
    if (clock.monotonicMs() > lastMs) throw new PassingFault('its log could not be stored in time')
    await state.query("select pg_notify('ergon_archive', $1)", [database])
    await sleep(LOOK_MS, signal)
  }
}
