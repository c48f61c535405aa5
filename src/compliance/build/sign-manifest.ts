// The signature of a pack is the receipt of a charge that names the manifest: the log's threshold key signs it as any
// charge, so no further key is to be kept or pinned.
import { createHash } from 'node:crypto'
import { nj, NJ_PER_J } from '#base/units.ts'
import { chargedResource } from '#contract/ledger/charged-resource.ts'
import { createReceipts } from '#receipts/prove.ts'
import { formatReceipt } from '#tlog/proof.ts'
import { PackFault, type DuePack, type PackWork } from './pack-work.ts'

export type SignedManifest = { readonly sha256: string; readonly receipt: string }

/** The part of the ceiling of a pack for its signature, which takes some microseconds. */
export const SIGNING_NJ = nj(NJ_PER_J)
const POLL_MS = 200
/** Signers that are away for longer make the work fail. */
const WAIT_MS_MAX = 600_000

export async function signManifest(
  { charging, payerOf, receipts: store, clock, sleep }: PackWork,
  pack: DuePack,
  manifest: string,
  signal: AbortSignal,
): Promise<SignedManifest> {
  const spend = charging.open()
  try {
    await spend.admit(await payerOf(pack.account), 'pack.build', SIGNING_NJ)
  } catch (error) {
    spend.drop()
    throw error
  }
  const sha256 = createHash('sha256').update(manifest).digest('hex')
  spend.served({ resource: chargedResource(pack.id), subjectSha256: sha256 })
  const { id } = await spend.settleAtTurnEnd(200)
  const receipts = createReceipts({ store })
  const lastMs = clock.monotonicMs() + WAIT_MS_MAX
  for (;;) {
    const answer = await receipts.find(id, [pack.account, 'nobody'])
    if (answer.state === 'sealed') return { sha256, receipt: formatReceipt(answer.receipt) }
    if (clock.monotonicMs() > lastMs)
      throw new PackFault('It could not be signed: the signers are away; try again')
    await sleep(POLL_MS, signal)
  }
}
