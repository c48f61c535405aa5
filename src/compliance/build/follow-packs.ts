// The packs that rows ask for, one at a time. After a kill a pack begins anew; one that cannot be made yet waits, and
// others go first.
import { ErgonError, messageOf } from '#base/errors.ts'
import { nj, smaller, subtract, type Nj } from '#base/units.ts'
import { chargedResource } from '#contract/ledger/charged-resource.ts'
import { during } from '#charging/during.ts'
import { isStateAway } from '#state/connect.ts'
import { buildPack, type BuiltPack } from './build-pack.ts'
import { NotSettled, PackFault, type DuePack, type PackWork } from './pack-work.ts'
import { openPackProgress } from './progress.ts'
import { SIGNING_NJ } from './sign-manifest.ts'
import { settlePack, type SettledPack } from './settled.ts'

const TRY_AGAIN = 'The service could not make it now; try again'
const LATER = 'The service could not look at its charges yet'
const AGAIN_MS = 15_000
const LEAST_MS = 50
const POSTPONED_MS = 1000
const ATTEMPTS_MAX = 3
const PACK_MS_MAX = 24 * 3_600_000

export interface Packs {
  /** Looks for packs now; ends the work of a pack that is deleted. */
  wake(deleted: string): void
  /** Works until the signal aborts. Never rejects. */
  run(signal: AbortSignal): Promise<void>
}

export function createPacks(work: PackWork): Packs {
  let waiting = new AbortController()
  let running: { readonly id: string; readonly cancel: AbortController } | undefined
  const { state, log, sleep } = work

  async function makeNext(ending: AbortSignal): Promise<boolean> {
    const pack = await nextPack(work)
    if (pack === undefined) return false
    const cancel = new AbortController()
    running = { id: pack.id, cancel }
    try {
      await make(work, pack, { ending, cancel })
    } finally {
      running = undefined
    }
    return true
  }

  return {
    wake(deleted) {
      if (running?.id === deleted) running.cancel.abort(new PackFault('It was deleted'))
      waiting.abort()
    },
    async run(signal) {
      let isFresh = false
      while (!signal.aborted)
        try {
          waiting = new AbortController()
          // This process alone makes them: those that run were cut by its end.
          if (!isFresh)
            await state.query(
              "update evidence_packs set status = 'waiting' where status = 'running'",
            )
          isFresh = true
          if (await makeNext(signal)) continue
          const untilDue = await dueInMs(work)
          await sleep(untilDue, AbortSignal.any([signal, waiting.signal])).catch(() => undefined)
        } catch (error) {
          if (signal.aborted) return
          log.warn('Evidence packs could not be followed', { error: messageOf(error) })
          isFresh = false
          await sleep(AGAIN_MS, signal).catch(() => undefined)
        }
    },
  }
}

async function nextPack({ state }: PackWork): Promise<DuePack | undefined> {
  const { rows } = await state.query<{
    id: string
    account: string
    from: Date
    to: Date
    ceiling: string
  }>(
    `select id, account, from_at as from, to_at as to, ceiling_nj::text as ceiling from next_pack()`,
  )
  return rows.map(({ ceiling, ...pack }) => ({ ...pack, ceilingNj: nj(BigInt(ceiling)) }))[0]
}

async function dueInMs({ state }: PackWork): Promise<number> {
  const { rows } = await state.query<{ ms: number | null }>(
    `select (1000 * extract(epoch from min(due_at) - ledger_now()))::float8 as ms
     from evidence_packs where status = 'waiting'`,
  )
  return Math.min(Math.max(rows[0]?.ms ?? AGAIN_MS, LEAST_MS), AGAIN_MS)
}

async function make(
  work: PackWork,
  pack: DuePack,
  { ending, cancel }: { readonly ending: AbortSignal; readonly cancel: AbortController },
): Promise<void> {
  const { state, log, stores } = work
  const signal = AbortSignal.any([ending, cancel.signal, AbortSignal.timeout(PACK_MS_MAX)])
  let isStarted = false
  try {
    const settled = await settlePack(work, pack)
    const { rows: started } = await state.query<{ attempts: number | null }>(
      'select start_pack($1) as attempts',
      [pack.id],
    )
    const attempts = started[0]?.attempts ?? null
    if (attempts === null) return
    isStarted = true
    if (attempts > ATTEMPTS_MAX) throw new PackFault('Its process ended three times')
    const { blob, manifestSha256 } = await built(work, settled, { signal, cancel })
    const { rows } = await state.query<{ kept: boolean }>(
      'select finish_pack($1, $2, $3) as kept',
      [pack.id, JSON.stringify(blob), manifestSha256],
    )
    if (rows[0]?.kept !== true) return await stores.target.delete(blob, ending)
    log.info('Made an evidence pack', { id: pack.id, bytes: blob.size })
  } catch (error) {
    await end(work, pack, error, { ending, isStarted })
  }
}

/** Charged to the account, as far as its ceiling: what an attempt before was charged is part of that. */
async function built(
  work: PackWork,
  settled: SettledPack,
  { signal, cancel }: { readonly signal: AbortSignal; readonly cancel: AbortController },
): Promise<BuiltPack> {
  const { id, account, ceilingNj } = settled.pack
  const chargedBeforeNj = await chargedNj(work, settled.pack, signal)
  const left = subtract(ceilingNj, smaller(ceilingNj, chargedBeforeNj))
  return await during(
    work,
    {
      payerOf: () => work.payerOf(account),
      operation: 'pack.build',
      ceilingNj: subtract(left, smaller(left, SIGNING_NJ)),
      served: { resource: chargedResource(id) },
      signal,
    },
    async (meter, paid) => {
      const gone = () => cancel.abort(new PackFault('It was deleted'))
      using progress = openPackProgress(work, id, gone)
      return await buildPack(work, settled, {
        mark: () => meter.mark(),
        progress: progress.report,
        signal: paid,
      })
    },
  )
}

async function chargedNj(
  { state, postCharges }: PackWork,
  { id, account }: DuePack,
  signal: AbortSignal,
): Promise<Nj> {
  // An attempt before may have ended in this process, a moment ago.
  await postCharges(signal)
  const { rows } = await state.query<{ charged: string }>(
    'select energy_nj::text as charged from charged_of_resource($1, $2)',
    [account, id],
  )
  return nj(BigInt(rows[0]?.charged ?? 0))
}

/** The account reads the reason: paths and names of the node stay in its log. */
async function end(
  { state, log }: PackWork,
  { id }: DuePack,
  error: unknown,
  { ending, isStarted }: { readonly ending: AbortSignal; readonly isStarted: boolean },
): Promise<void> {
  // A stop is no attempt; the pack begins anew at the next start.
  if (ending.aborted)
    return void (await state.query(
      "update evidence_packs set status = 'waiting', attempts = attempts - 1 where id = $1 and status = 'running'",
      [id],
    ))
  const isAway = isStateAway(error)
  const awaited =
    error instanceof NotSettled ? error.message : isAway && !isStarted ? LATER : undefined
  if (awaited !== undefined)
    return void (await state.query('select postpone_pack($1, $2, $3)', [id, awaited, POSTPONED_MS]))
  log.error('An evidence pack failed', { id, error })
  const isTold = error instanceof PackFault || (error instanceof ErgonError && !isAway)
  const reason = isTold ? error.message : TRY_AGAIN
  // One that waits fails too: its charges cannot be read, and it would keep the others waiting.
  await state.query(
    `update evidence_packs set status = 'failed', reason = $2, ended_at = ledger_now()
     where id = $1 and status in ('waiting', 'running')`,
    [id, reason],
  )
}
