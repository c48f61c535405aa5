// The operator's word that a log whose key lost shares goes on under a new one. Never automatic: a share that
// was only mislaid would be worth nothing after it.
import { mkdirSync, renameSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import type { Cell, Cells } from '#cells/cell.ts'
import type { RECEIPTS_CONTROL } from '#contract/receipts/control.ts'
import type { ControlHandlers } from '#contract/control-operation.ts'
import { fault } from '#contract/errors.ts'
import { ask } from '#node/cell-specs.ts'
import { createSignerStore, type SignerStore } from '#receipts/signer-store.ts'
import type { SignerShares } from '#receipts/signer-watch.ts'
import { createSqlReceiptStore } from '#receipts/sql-store.ts'
import { sharesText, type SignerShare } from '#signers/shares.ts'
import { THRESHOLD } from '#signers/wire.ts'
import type { State } from '#state/connect.ts'

type Deps = {
  readonly cells: Cells
  readonly state: State
  /** The folder that has the five folders of the signers. */
  readonly signersFolder: string
}

const ASK_TIMEOUT_MS = 10_000
const LOOK_MS = 250
const KEY_TIMEOUT_MS = 120_000

export const signerHandlers = (deps: Deps): ControlHandlers<typeof RECEIPTS_CONTROL> => ({
  'signer.new-key': (_, { signal }) => newKey(deps, signal),
})

/**
 * Has the signers make another key; answers when the shard of the new key is open. Where three have their share
 * the old key names the new one, and goes then; else what is left of it is set aside. Throws invalid_request, and
 * nothing has changed, while all five have their share or one does not answer. A call that was cut off goes on when it is
 * repeated.
 */
async function newKey({ cells, state, signersFolder }: Deps, signal: AbortSignal) {
  const store = createSignerStore(state)
  const jobs = cells.list().find(({ spec }) => spec.name === 'jobs')
  if (jobs === undefined) throw refused('jobs does not run')
  const { shares } = (await ask(
    jobs.socket,
    '/signers',
    AbortSignal.any([signal, AbortSignal.timeout(ASK_TIMEOUT_MS)]),
  )) as SignerShares
  requireLost(shares)
  const shards = createSqlReceiptStore(state).shards
  const before = (await shards()).at(-1)
  if (before === undefined) throw refused('the log has no key yet')
  await store.orderNewKey()
  const canSign = shares.filter(({ share }) => share === 'ready').length >= THRESHOLD
  const aside = canSign ? undefined : await setAside(cells, signersFolder)
  // The sealer looks for the order as it begins.
  if (canSign) await jobs.stop()
  await opened(store, canSign ? await cells.start(jobs.spec) : jobs, signal)
  const { origin, handover } = (await shards()).at(-1) ?? before
  return { origin, before: before.origin, aside, handover }
}

function requireLost(shares: readonly SignerShare[]): void {
  const isIn = (state: SignerShare['share']) => shares.filter(({ share }) => share === state)
  if (isIn('ready').length === shares.length)
    throw refused(`${shares.length} signers have their share: none is lost`)
  // A signer that does not answer may have a share.
  const silent = isIn('silent')
  if (silent.length > 0)
    throw refused(
      `${sharesText(silent)}; if what it keeps cannot be read, move its folder away and wait until it answers`,
    )
  if (isIn('unfinished').length > 0) throw refused('a key is being made')
}

/** All five begin with an empty folder; what they had is kept beside, and the place is given. */
async function setAside(cells: Cells, signersFolder: string): Promise<string> {
  const aside = join(signersFolder, `aside-${new Date().toISOString().replaceAll(':', '')}`)
  mkdirSync(aside, { mode: 0o700 })
  const signers = cells.list().filter(({ spec }) => spec.name.startsWith('signer-'))
  for (const cell of signers) {
    const { spec } = cell
    const number = spec.name.slice('signer-'.length)
    await cell.stop()
    renameSync(join(signersFolder, number), join(aside, number))
    await cells.start(spec)
  }
  return aside
}

/** Until the sealer has opened the shard of the new key, which takes the order back. */
async function opened(store: SignerStore, jobs: Cell, signal: AbortSignal): Promise<void> {
  const limit = AbortSignal.timeout(KEY_TIMEOUT_MS)
  while (await store.mayMakeKey()) {
    signal.throwIfAborted()
    if (limit.aborted) {
      const { reason } = (await ask(jobs.socket, '/sealer', signal)) as { reason?: string }
      throw fault(
        'signers_unavailable',
        `Could not make the new key yet, it is still tried: ${reason ?? 'no reason given'}`,
      )
    }
    await pause(LOOK_MS, undefined, { signal })
  }
}

const refused = (why: string) => fault('invalid_request', `Could not make a new key: ${why}`)
